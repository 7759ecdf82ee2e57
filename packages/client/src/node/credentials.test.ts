// certificate-authority of a cluster: inline data and files.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ClusterEntry } from '../config/kubeconfig.js'
import { caOf } from './credentials.js'

test('a certificate authority without PEM certificate is a ConfigError', () => {
  const folder = mkdtempSync(join(tmpdir(), 'authority-'))
  try {
    const authority = (cluster: ClusterEntry): string | undefined => caOf({ cluster } as Parameters<typeof caOf>[0])
    const pem = '-----BEGIN CERTIFICATE-----\n'
    const file = join(folder, 'ca')
    assert.equal(authority({}), undefined)
    assert.equal(authority({ 'certificate-authority-data': Buffer.from(pem).toString('base64') }), pem)
    assert.throws(() => authority({ 'certificate-authority-data': 'eHh4' }), /certificate-authority-data has no PEM certificate/)
    assert.throws(() => authority({ 'certificate-authority': file }), /certificate-authority: ENOENT/)
    writeFileSync(file, 'nothing')
    assert.throws(() => authority({ 'certificate-authority': file }), /ca has no PEM certificate/)
    writeFileSync(file, pem)
    assert.equal(authority({ 'certificate-authority': file }), pem)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
