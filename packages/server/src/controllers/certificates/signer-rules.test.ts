// Rules of the signers with the messages of kube-apiserver, and lifetimes of certificates.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { CertificateRequest } from '@cluster-apiserver/api/resources/certificates/certificate-der.js'
import { validity } from './certificate-signing.js'
import { signerNames, signerRules } from './signer-rules.js'

const identity = identityOf('cluster')
const names = signerNames(identity)
const node = { commonName: 'system:node:n', organizations: ['system:nodes'] }
const hosts = ['n.test', '10.0.0.7']

for (const { signer, fields = {}, usages, problem } of [
  { signer: 'client', usages: ['client auth'] },
  { signer: 'client', usages: ['client auth', 'digital signature', 'key encipherment'] },
  { signer: 'client', usages: ['client auth', 'server auth'], problem: 'invalid usage for client certificate: server auth' },
  { signer: 'client', usages: ['digital signature'], problem: 'missing required usage for client certificate: client auth' },
  { signer: 'client', usages: ['client auth'], fields: { hosts, emails: ['a@b.c'], uris: ['urn:x'] } },
  {
    signer: 'client',
    usages: ['client auth'],
    fields: { commonName: 'a\nb' },
    problem: 'the subject needs a common name, of characters that can be printed',
  },
  { signer: 'nodeClient', usages: ['client auth', 'digital signature', 'key encipherment'], fields: node },
  { signer: 'nodeClient', usages: ['client auth', 'digital signature'], fields: node },
  {
    signer: 'nodeClient',
    usages: ['client auth'],
    fields: node,
    problem: 'usages did not match [client auth digital signature key encipherment]',
  },
  { signer: 'nodeClient', usages: [], fields: { ...node, organizations: ['a'] }, problem: 'subject organization is not system:nodes' },
  {
    signer: 'nodeClient',
    usages: [],
    fields: { ...node, organizations: ['system:nodes', 'system:masters'] },
    problem: 'subject organization is not system:nodes',
  },
  {
    signer: 'nodeClient',
    usages: [],
    fields: { ...node, commonName: 'n' },
    problem: 'subject common name does not begin with system:node:',
  },
  { signer: 'nodeClient', usages: [], fields: { ...node, hosts: ['10.0.0.7'] }, problem: 'IP subjectAltNames are not allowed' },
  { signer: 'nodeClient', usages: [], fields: { ...node, hosts }, problem: 'DNS subjectAltNames are not allowed' },
  { signer: 'nodeClient', usages: [], fields: { ...node, uris: ['urn:x'] }, problem: 'URI subjectAltNames are not allowed' },
  { signer: 'nodeServing', usages: ['server auth', 'digital signature', 'key encipherment'], fields: { ...node, hosts } },
  { signer: 'nodeServing', usages: [], fields: node, problem: 'DNS or IP subjectAltName is required' },
  { signer: 'nodeServing', usages: [], fields: { ...node, hosts, emails: ['a@b.c'] }, problem: 'email subjectAltNames are not allowed' },
  {
    signer: 'nodeServing',
    usages: ['client auth', 'digital signature'],
    fields: { ...node, hosts },
    problem: 'usages did not match [digital signature key encipherment server auth]',
  },
] as readonly {
  readonly signer: keyof typeof names
  readonly fields?: Partial<CertificateRequest>
  readonly usages: readonly string[]
  readonly problem?: string
}[]) {
  test(`${signer}, ${JSON.stringify(fields)} for ${usages.join(', ')}: ${problem ?? 'signed'}`, () => {
    const request = { commonName: 'jane', organizations: [], hosts: [], emails: [], uris: [], ...fields } as unknown as CertificateRequest
    assert.equal(signerRules(identity).get(names[signer])?.problemOf(request, usages), problem)
  })
}

test('lifetimes: exact if short, backdated if long, never beyond the CA certificate', () => {
  const hourMs = 3_600_000
  const now = 1_000_000_000_000
  const end = (seconds: number, endMs: number): number => validity({ seconds, now, endMs }).notAfter - now
  assert.equal(validity({ seconds: 600, now, endMs: now + 1e12 }).notBefore, now - 300_000)
  assert.equal(end(3600, now + 1e12), hourMs)
  assert.equal(end(8 * 3600, now + 1e12), 8 * hourMs - 300_000)
  assert.equal(end(3600, now + 1000), 1000)
  assert.throws(() => end(3600, now), /CA certificate of the signer expired at 2001-/)
})
