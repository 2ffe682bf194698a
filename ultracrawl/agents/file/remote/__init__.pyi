from .s3 import S3Folder as S3Folder
from .sftp import SftpFolder as SftpFolder
from .smb.folder import SmbFolder as SmbFolder
from .webdav import WebdavFolder as WebdavFolder
