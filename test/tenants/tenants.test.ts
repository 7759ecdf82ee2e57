// Short form of `npm run tenants`: three tenants with disjoint permissions at one server. TENANTS_SEED and TENANTS_REQUESTS change the run.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderFinding } from './check.js'
import { renderResult } from './report.js'
import { runTenants } from './run.js'
import { startEmbeddedServer } from './servers.js'
import { makeUsers } from './tenant.js'

const seed = Number(process.env['TENANTS_SEED'] ?? 1)
const requests = Number(process.env['TENANTS_REQUESTS'] ?? 400)

test('no tenant sees or changes data of another', async (t) => {
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
    log: () => undefined,
  })
  t.diagnostic(`TENANTS_SEED=${seed}\n${renderResult(result)}`)
  assert.deepEqual(result.checks.findings.map(renderFinding), [])
  assert.ok(result.checks.bytes > 1 << 20, 'most requests got no response')
})
