// The short form of `npm run tenants`: three tenants at one server with the embedded store. TENANTS_SEED repeats other choices than the usual ones,
// TENANTS_REQUESTS makes it longer.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tellFinding } from './check.js'
import { tellResult } from './report.js'
import { runTenants } from './run.js'
import { startEmbeddedServer } from './servers.js'
import { makeUsers } from './tenant.js'

const seed = Number(process.env['TENANTS_SEED'] ?? 1)
const requests = Number(process.env['TENANTS_REQUESTS'] ?? 400)

test('no tenant sees or changes what another one has', async (t) => {
  const users = makeUsers(seed, 3)
  const servers = await startEmbeddedServer({ flags: users.flags })
  t.after(async () => {
    await servers.close()
    users.removeFiles()
  })
  const result = await runTenants(servers, users, {
    seed,
    mix: 'all',
    lanes: 2,
    roles: 5,
    faults: ['clients'],
    isOver: (count) => count >= requests,
    checkEveryMs: 5000,
    say: () => undefined,
  })
  t.diagnostic(`TENANTS_SEED=${seed}\n${tellResult(result)}`)
  assert.deepEqual(result.checks.findings.map(tellFinding), [])
  assert.ok(result.checks.bytes > 1 << 20, 'hardly anything was answered')
})
