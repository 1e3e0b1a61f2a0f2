package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

const certificateLife = time.Hour

// For each identity a folder with the three files that an agent would keep for it, all of one throw-away authority.
func writeCertificates(folder string, identities []string) error {
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	root := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "root of a test"},
		NotBefore:             time.Now().Add(-certificateLife),
		NotAfter:              time.Now().Add(certificateLife),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	rootBytes, err := x509.CreateCertificate(rand.Reader, root, root, &rootKey.PublicKey, rootKey)
	if err != nil {
		return err
	}
	for i, identity := range identities {
		uri, err := url.Parse(identity)
		if err != nil {
			return err
		}
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return err
		}
		leaf := &x509.Certificate{
			SerialNumber: big.NewInt(int64(i) + 2),
			NotBefore:    root.NotBefore,
			NotAfter:     root.NotAfter,
			KeyUsage:     x509.KeyUsageDigitalSignature,
			ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
			URIs:         []*url.URL{uri},
		}
		leafBytes, err := x509.CreateCertificate(rand.Reader, leaf, root, &key.PublicKey, rootKey)
		if err != nil {
			return err
		}
		keyBytes, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			return err
		}
		files := map[string]*pem.Block{
			"cert-chain.pem": {Type: "CERTIFICATE", Bytes: leafBytes},
			"key.pem":        {Type: "PRIVATE KEY", Bytes: keyBytes},
			"root-cert.pem":  {Type: "CERTIFICATE", Bytes: rootBytes},
		}
		if err := writeFolder(filepath.Join(folder, filepath.Base(uri.Path)), files); err != nil {
			return err
		}
	}
	return nil
}

func writeFolder(folder string, files map[string]*pem.Block) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	for name, block := range files {
		if err := os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(block), 0o600); err != nil {
			return err
		}
	}
	return nil
}
