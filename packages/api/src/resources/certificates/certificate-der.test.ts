// Tests of the reader of certificate requests and certificates, and of signer names.

import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import { test } from 'node:test'
import { lines } from '../../api/rule-context.fixture.js'
import { decodeText, encodeText } from '../core/base64-text.js'
import { checkCertificates, pemBlocks, readCertificateRequest, SignedDataError } from './certificate-der.js'
import { certificate, request } from './certificate-signing-request.fixture.js'
import { validateSignerName } from './certificate-signing-request.js'

test('a request has subject, public key and a valid signature', () => {
  const parsed = readCertificateRequest(request)
  assert.equal(parsed.commonName, 'dave')
  assert.deepEqual(parsed.organizations, ['devs'])
  assert.equal(parsed.signatureAlgorithm, '1.2.840.10045.4.3.2')
  const key = createPublicKey({ key: Buffer.from(parsed.publicKey), format: 'der', type: 'spki' })
  assert.ok(verify('sha256', parsed.signed, key, parsed.signature))
})

test('several certificates with text between them are accepted', () => {
  const pem = decodeText(certificate)
  checkCertificates(encodeText(`before\n${pem}between\n${pem}after`))
  assert.equal(pemBlocks(`${pem}${pem}`).length, 2)
})

test('many BEGIN lines without END take linear time', () => {
  assert.deepEqual(pemBlocks('-----BEGIN CERTIFICATE-----\n'.repeat(50_000)), [])
})

const pem = (type: string, body: string): string => encodeText(`-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`)
const invalidCertificates: readonly (readonly [title: string, text: string, problem: RegExp])[] = [
  ['PEM headers', pem('CERTIFICATE', 'A: b\n\nAAAA'), /^no PEM block headers are permitted$/],
  ['an empty PEM block', pem('CERTIFICATE', ''), /0 certificates$/],
  ['a multi-byte DER tag', pem('CERTIFICATE', 'HwAA'), /must hold an X.509 certificate$/],
  ['a DER length beyond the data', pem('CERTIFICATE', 'MIL/'), /must hold an X.509 certificate$/],
  ['invalid base64', pem('CERTIFICATE', '***'), /at least one CERTIFICATE PEM block$/],
]

for (const [title, text, problem] of invalidCertificates) {
  test(`a certificate with ${title}`, () => {
    assert.throws(
      () => checkCertificates(text),
      (thrown) => thrown instanceof SignedDataError && problem.test(thrown.message),
    )
  })
}

const long = 'a'.repeat(64)
const names: readonly (readonly [name: string, ...expected: readonly string[]])[] = [
  ['example.com/signer'],
  ['example.com/signer.of-all'],
  [
    'example.com/x/y',
    's: Invalid value: "example.com/x/y": must be a fully qualified domain and path of the form \'example.com/signer-name\'',
  ],
  [`${long}.com/x`, `s: Invalid value: "${long}.com": validating label "${long}": must be no more than 63 characters`],
]

for (const [name, ...expected] of names) test(`signer name ${name}`, () => assert.deepEqual(lines(validateSignerName(name, 's')), expected))
