// Certificate files that change under a running server.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLogger } from '../base/logger.js'
import { issueCertificate, type KeyPair } from './issue-certificate.js'
import { ReloadingCertificate } from './reloading-certificate.js'

const make = (name: string): KeyPair =>
  issueCertificate({ commonName: name, use: 'authority', notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 })

async function eventually(isTrue: () => boolean): Promise<void> {
  for (let i = 0; i < 6000 && !isTrue(); i++) await new Promise((resolve) => setTimeout(resolve, 10))
  assert.ok(isTrue())
}

test('files are read again when they change; half a change and nonsense are not used', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'certificate-'))
  const files = { certFile: join(folder, 'a.crt'), keyFile: join(folder, 'a.key') }
  const first = make('first')
  const second = make('second')
  const seen: KeyPair[] = []
  const warnings: string[] = []
  writeFileSync(files.certFile, first.cert)
  assert.throws(() => new ReloadingCertificate(files, { logger: silentLogger, onChange: () => undefined }), /ENOENT/)
  writeFileSync(files.keyFile, first.key)
  const logger = { ...silentLogger, warn: (_: object, message: string) => void warnings.push(message) }
  const reloading = new ReloadingCertificate(files, { logger, everyMs: 20, onChange: (pair) => void seen.push(pair) })
  try {
    writeFileSync(files.certFile, second.cert)
    await eventually(() => warnings.length > 0)
    await new Promise((resolve) => setTimeout(resolve, 100))
    assert.equal(warnings.length, 1, 'told once')
    assert.deepEqual(seen, [])
    writeFileSync(files.keyFile, second.key)
    await eventually(() => seen.length > 0)
    assert.deepEqual(seen, [second])
    assert.deepEqual(reloading.current, second)
  } finally {
    reloading.close()
    rmSync(folder, { recursive: true })
  }
})
