// Reading what is inside of requests for certificates, and where signer names are broken.

import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import { test } from 'node:test'
import { lines } from '../../api/rule-context.fixture.js'
import { decodeText, encodeText } from '../core/base64-text.js'
import { pemBlocks } from './pem.js'
import { certificate, request } from './requests.fixture.js'
import { checkCertificates, readCertificateRequest, SignedDataError } from './signed-data.js'
import { validateSignerName } from './signer-name.js'

test('a request says who it is for, and its parts prove that it owns the key', () => {
  const read = readCertificateRequest(request)
  assert.equal(read.commonName, 'dave')
  assert.deepEqual(read.organizations, ['devs'])
  assert.equal(read.signatureAlgorithm, '1.2.840.10045.4.3.2')
  const key = createPublicKey({ key: Buffer.from(read.publicKey), format: 'der', type: 'spki' })
  assert.ok(verify('sha256', read.signed, key, read.signature))
})

test('certificates may follow each other, with text around', () => {
  const pem = decodeText(certificate)
  checkCertificates(encodeText(`before\n${pem}between\n${pem}after`))
  assert.equal(pemBlocks(`${pem}${pem}`).length, 2)
})

test('a text of many beginnings and no end is read in one go', () => {
  const begun = Date.now()
  assert.deepEqual(pemBlocks('-----BEGIN CERTIFICATE-----\n'.repeat(50_000)), [])
  assert.ok(Date.now() - begun < 20_000)
})

const pem = (type: string, body: string): string => encodeText(`-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`)
const broken: readonly { readonly title: string; readonly text: string; readonly problem: RegExp }[] = [
  { title: 'headers', text: pem('CERTIFICATE', 'A: b\n\nAAAA'), problem: /^no PEM block headers are permitted$/ },
  { title: 'nothing inside', text: pem('CERTIFICATE', ''), problem: /0 certificates$/ },
  { title: 'a tag of several bytes', text: pem('CERTIFICATE', 'HwAA'), problem: /must hold an X.509 certificate$/ },
  { title: 'a length that is too long', text: pem('CERTIFICATE', 'MIL/'), problem: /must hold an X.509 certificate$/ },
  { title: 'bytes that are no base64', text: pem('CERTIFICATE', '***'), problem: /at least one CERTIFICATE PEM block$/ },
]

for (const { title, text, problem } of broken) {
  test(`a certificate with ${title}`, () => {
    assert.throws(
      () => checkCertificates(text),
      (thrown) => thrown instanceof SignedDataError && problem.test(thrown.message),
    )
  })
}

const long = 'a'.repeat(64)
const names: readonly { readonly name: string; readonly found: readonly string[] }[] = [
  { name: 'example.com/signer', found: [] },
  { name: 'example.com/signer.of-all', found: [] },
  {
    name: 'example.com/x/y',
    found: ['s: Invalid value: "example.com/x/y": must be a fully qualified domain and path of the form \'example.com/signer-name\''],
  },
  { name: `${long}.com/x`, found: [`s: Invalid value: "${long}.com": validating label "${long}": must be no more than 63 characters`] },
]

for (const { name, found } of names) test(`the signer ${name}`, () => assert.deepEqual(lines(validateSignerName(name, 's')), found))
