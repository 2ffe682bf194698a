// Fetches all pages of one host and takes links and text out of them with Colly, and nothing else: no state, no
// robots.txt, no index. Prints one line of JSON.
package main

import (
	"encoding/json"
	"net/url"
	"os"
	"strings"
	"sync/atomic"

	"github.com/gocolly/colly/v2"
)

func main() {
	start, err := url.Parse(os.Args[1])
	if err != nil {
		panic(err)
	}
	var pages, characters atomic.Int64
	collector := colly.NewCollector(colly.AllowedDomains(start.Hostname()), colly.Async(true))
	if err := collector.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: 32}); err != nil {
		panic(err)
	}
	collector.OnHTML("html", func(html *colly.HTMLElement) {
		pages.Add(1)
		html.DOM.Find("script, style").Remove()
		characters.Add(int64(len(strings.Join(strings.Fields(html.DOM.Find("body").Text()), " "))))
	})
	collector.OnHTML("a[href]", func(link *colly.HTMLElement) {
		page, _, _ := strings.Cut(link.Request.AbsoluteURL(link.Attr("href")), "#")
		_ = link.Request.Visit(page)
	})
	if err := collector.Visit(start.String()); err != nil {
		panic(err)
	}
	collector.Wait()
	_ = json.NewEncoder(os.Stdout).Encode(map[string]int64{"pages": pages.Load(), "characters": characters.Load()})
}
