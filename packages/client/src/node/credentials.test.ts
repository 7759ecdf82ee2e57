// Certificates to trust, as configurations name them.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ClusterEntry } from '../config/config-entries.js'
import { authorityOf } from './credentials.js'

test('an authority without a certificate is a mistake of the configuration, and not of the server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'authority-'))
  try {
    const authority = (cluster: ClusterEntry): string | undefined => authorityOf({ cluster } as Parameters<typeof authorityOf>[0])
    const pem = '-----BEGIN CERTIFICATE-----\n'
    const file = join(folder, 'ca')
    assert.equal(authority({}), undefined)
    assert.equal(authority({ 'certificate-authority-data': Buffer.from(pem).toString('base64') }), pem)
    assert.throws(() => authority({ 'certificate-authority-data': 'eHh4' }), /certificate-authority-data has no certificate in PEM/)
    assert.throws(() => authority({ 'certificate-authority': file }), /certificate-authority: ENOENT/)
    writeFileSync(file, 'nothing')
    assert.throws(() => authority({ 'certificate-authority': file }), /ca has no certificate in PEM/)
    writeFileSync(file, pem)
    assert.equal(authority({ 'certificate-authority': file }), pem)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
