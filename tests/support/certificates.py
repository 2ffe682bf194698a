"""A certificate authority for tests: servers on loopback and clients, in PEM files."""

import ipaddress
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

_PEM = serialization.Encoding.PEM


class Authority:
    """Signs certificates; all files lie in one folder, and `file` is its own certificate."""

    def __init__(self, folder: Path, name: str = "Test CA") -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        basic = x509.BasicConstraints(ca=True, path_length=None)
        self._own = self._builder(self._name, self._key).add_extension(basic, critical=True)
        self.file = self._write("ca.pem", self._own.sign(self._key, hashes.SHA256()).public_bytes(_PEM))

    def issue(
        self,
        name: str,
        password: str = "",
        *,
        addresses: Sequence[str] = ("127.0.0.1", "127.0.0.2"),
        hosts: Sequence[str] = ("localhost",),
    ) -> tuple[Path, Path]:
        """Return certificate and key for a client, or for a server with some names and addresses."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        names: list[x509.GeneralName] = [*map(x509.DNSName, hosts)]
        names += [x509.IPAddress(ipaddress.ip_address(address)) for address in addresses]
        built = self._builder(subject, key).add_extension(x509.SubjectAlternativeName(names), critical=False)
        certificate = built.sign(self._key, hashes.SHA256()).public_bytes(_PEM)
        encryption: serialization.KeySerializationEncryption = serialization.NoEncryption()
        if password:
            encryption = serialization.BestAvailableEncryption(password.encode())
        private = key.private_bytes(_PEM, serialization.PrivateFormat.PKCS8, encryption)
        return self._write(f"{name}.pem", certificate), self._write(f"{name}.key", private)

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
        )

    def _write(self, name: str, data: bytes) -> Path:
        path = self._folder / name
        path.write_bytes(data)
        return path
