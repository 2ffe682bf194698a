//! Fetches all pages of one host and takes the links out of them with spider, and nothing else: no text, no state, no
//! robots.txt, no index. Prints one line of JSON.

use spider::tokio;
use spider::website::Website;

#[tokio::main]
async fn main() {
    let start = std::env::args().nth(1).expect("the first URL");
    let mut website = Website::new(&start);
    website.crawl().await;
    println!("{{\"pages\": {}}}", website.get_links().len());
}
