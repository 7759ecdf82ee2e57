// Reloading the client CA file.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { issueCertificate } from '../../net/tls/issue-certificate.js'
import type { AuthenticationSettings } from '../../options/settings.js'
import { ClientTrust } from './client-ca.js'

const authority = (commonName: string): string =>
  issueCertificate({ commonName, use: 'authority', notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 }).cert

test('new CAs are used; an invalid file is ignored and logged once', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const folder = mkdtempSync(join(tmpdir(), 'client-trust-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const clientCaFile = join(folder, 'ca.crt')
  const [first, second] = [authority('first'), authority('second')]
  const warnings: string[] = []
  const logger = { ...silentLogger, warn: (_: object, text: string) => void warnings.push(text) }
  const settings: Partial<AuthenticationSettings> = { clientCa: first, clientCaFile }
  const trust = new ClientTrust(settings as AuthenticationSettings, authority('own'), logger)
  t.after(() => trust.close())
  const afterWriting = (text: string): string => {
    writeFileSync(clientCaFile, text)
    t.mock.timers.tick(20_000)
    return trust.clients.pem
  }
  assert.equal(afterWriting(second), second)
  assert.equal(afterWriting('nonsense'), second)
  assert.deepEqual(warnings, ['cannot reload configuration file; the previous content stays in effect'])
  assert.equal(afterWriting(first), first)
})
