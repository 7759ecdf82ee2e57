// Server certificates without subject alternative names or with SHA-1 signatures are counted, and refused unless verification is off.

import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { JsonEndpoint } from '../outbound/json-endpoint.js'
import { Upstream } from '../proxy/upstream.js'
import { CertificateCounter } from './certificate-flaws.js'
import { issueCertificate, type KeyPair } from './issue-certificate.js'

const pem = (label: string, text: string): string => `-----BEGIN ${label}-----\n${text}\n-----END ${label}-----\n`

/** Signed with SHA-1, valid for a hundred years: current tools do not issue such certificates. */
const sha1Authority = pem(
  'CERTIFICATE',
  'MIIBfzCCASWgAwIBAgIUJLcm9c9VCxiAu7D+xlVsjj9eHLkwCgYIKoZIzj0EAwIwFDESMBAGA1UEAwwJYXV0aG9yaXR5MCAXDTI2MTExNjA3MTk0MloYDzIxMjYxMDIzMDcxOTQyWjAUMRIwEAYDVQQDDAlhdXRob3JpdHkwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATP1movg6bkK217sleuqA5iN6SVuniwT+it0aMmmoSwxbY86mJxkER4tUWQH5ezH9i3/1HdhxE2l5Nk3YANsvbfo1MwUTAdBgNVHQ4EFgQUJucEtKQzTUmNvKz2vbQGxCNwz+UwHwYDVR0jBBgwFoAUJucEtKQzTUmNvKz2vbQGxCNwz+UwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEAwU21Jk0dDLqGIunxdlMIeOLex3Nl6fyRXbPyIZ+j+ewCIF+H8vsucWP6VQGnOnnTixetdTPIwMPZ20LRht/fqVJq',
)
const sha1Pair: KeyPair = {
  cert: pem(
    'CERTIFICATE',
    'MIIBjjCCATWgAwIBAgIUBFqDhpGmO8uKRmBPXQakA4pnFrkwCQYHKoZIzj0EATAUMRIwEAYDVQQDDAlhdXRob3JpdHkwIBcNMjYxMTE2MDcxOTQyWhgPMjEyNjEwMjMwNzE5NDJaMBoxGDAWBgNVBAMMD29sZC5leGFtcGxlLmNvbTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABCEG9DXSipPxd4cPEFBQdkdU6Gvo3kxEUOrwkSil4j6puxX/pkQupqc3GV4AuZJBJxXxl8pycjTK+wKk+n4pafmjXjBcMBoGA1UdEQQTMBGHBH8AAAGCCWxvY2FsaG9zdDAdBgNVHQ4EFgQUPtkwf4n1fKnWKoLXEHBDLapFeu4wHwYDVR0jBBgwFoAUJucEtKQzTUmNvKz2vbQGxCNwz+UwCQYHKoZIzj0EAQNIADBFAiEAnVcMDzsZCRsyFBY2ZnaorW7Iv2gP/s0eFAXDJA978j0CIF8Y4quA9UNqFf2N82ssz/gCULOVQ5PG4YzUi3n9A7Jy',
  ),
  key: pem(
    'EC PRIVATE KEY',
    'MHcCAQEEIJxPGnmkdeStUVGNnP754Fhpo9fAWj/T9dizGRprpP8WoAoGCCqGSM49AwEHoUQDQgAEIQb0NdKKk/F3hw8QUFB2R1Toa+jeTERQ6vCRKKXiPqm7Ff+mRC6mpzcZXgC5kkEnFfGXynJyNMr7AqT6filp+Q==',
  ),
}

const validity = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 }
const authority = { ...issueCertificate({ commonName: 'authority', use: 'authority', ...validity }), commonName: 'authority' }
const withNames = issueCertificate({ commonName: 'server', hosts: ['127.0.0.1'], use: 'server', ...validity }, authority)
const withoutNames = issueCertificate({ commonName: '127.0.0.1', use: 'server', ...validity }, authority)
const hostWithoutNames = issueCertificate({ commonName: 'old.example.com', use: 'server', ...validity }, authority)

async function serve(t: TestContext, pair: KeyPair): Promise<string> {
  const server = createServer({ ...pair, ciphers: 'DEFAULT@SECLEVEL=0' }, (_request, response) => response.end('{}')).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

interface TrustOptions {
  readonly ca: string
  readonly insecure?: boolean
  readonly serverName?: string
}

/** Sends three requests with each outbound client; returns the counts and the last error. */
async function countFlaws(
  t: TestContext,
  url: string,
  tls: TrustOptions,
): Promise<readonly [lackedNames: number, wereSha1: number, error: string]> {
  const [posts, gets] = [new CertificateCounter(), new CertificateCounter()]
  const endpoint = new JsonEndpoint({ url, ...tls, counter: posts }, { timeoutMs: 60_000 })
  const upstream = new Upstream({ ...tls, counter: gets })
  t.after(() => {
    endpoint.close()
    upstream.close()
  })
  let error = ''
  for (let i = 0; i < 3; i++) {
    await endpoint.post({}).catch((thrown: Error) => {
      error = thrown.message
    })
    await new Promise<void>((resolve) => {
      const request = upstream.request({ url: new URL(url), method: 'GET', headers: ['Host', new URL(url).host] })
      request.once('response', (response) => response.resume().once('end', resolve))
      request.once('error', () => resolve())
      request.end()
    })
  }
  assert.deepEqual([posts.lackedNames, posts.wereSha1], [gets.lackedNames, gets.wereSha1])
  return [posts.lackedNames, posts.wereSha1, error]
}

test('a certificate without flaws is not counted', async (t) => {
  assert.deepEqual(await countFlaws(t, await serve(t, withNames), { ca: authority.cert }), [0, 0, ''])
})

test('a certificate without names is counted per response if insecure, and per failure otherwise', async (t) => {
  const url = await serve(t, withoutNames)
  assert.deepEqual(await countFlaws(t, url, { ca: authority.cert, insecure: true }), [3, 0, ''])
  const host = await serve(t, hostWithoutNames)
  const options = { ca: authority.cert, serverName: 'old.example.com' }
  assert.deepEqual(await countFlaws(t, host, options), [3, 0, 'x509: certificate relies on legacy Common Name field, use SANs instead'])
})

test('a certificate with a SHA-1 signature is counted the same way', async (t) => {
  const url = await serve(t, sha1Pair)
  assert.deepEqual(await countFlaws(t, url, { ca: sha1Authority, insecure: true }), [0, 3, ''])
  const [lackedNames, wereSha1, error] = await countFlaws(t, url, { ca: sha1Authority })
  assert.deepEqual([lackedNames, wereSha1], [0, 3], error)
})
