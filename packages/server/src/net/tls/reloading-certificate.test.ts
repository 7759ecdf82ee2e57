// Reloading of changed certificate files.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { until } from '@cluster-apiserver/api/base/testing/until.fixture.js'
import { issueCertificate, type KeyPair } from './issue-certificate.js'
import { ReloadingCertificate } from './reloading-certificate.js'

const issue = (name: string): KeyPair =>
  issueCertificate({ commonName: name, use: 'authority', notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 })

test('files are reloaded when both have changed; a mismatch is logged once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'certificate-'))
  const files = { certFile: join(folder, 'a.crt'), keyFile: join(folder, 'a.key') }
  const first = issue('first')
  const second = issue('second')
  const changes: KeyPair[] = []
  const warnings: string[] = []
  writeFileSync(files.certFile, first.cert)
  assert.throws(() => new ReloadingCertificate(files, { logger: silentLogger, onChange: () => undefined }), /ENOENT/)
  writeFileSync(files.keyFile, first.key)
  const logger = { ...silentLogger, warn: (_: object, message: string) => void warnings.push(message) }
  const reloading = new ReloadingCertificate(files, { logger, pollMs: 20, onChange: (pair) => void changes.push(pair) })
  try {
    writeFileSync(files.certFile, second.cert)
    await until(() => warnings.length > 0)
    await new Promise((resolve) => setTimeout(resolve, 100))
    assert.equal(warnings.length, 1, 'logged once')
    assert.deepEqual(changes, [])
    writeFileSync(files.keyFile, second.key)
    await until(() => changes.length > 0)
    assert.deepEqual(changes, [second])
    assert.deepEqual(reloading.current, second)
  } finally {
    reloading.close()
    rmSync(folder, { recursive: true })
  }
})
