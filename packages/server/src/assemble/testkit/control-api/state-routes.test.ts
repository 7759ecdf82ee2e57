// Limits of the routes for snapshots and forks.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ControlSession } from './route.js'
import { stateRoutes } from './state-routes.js'

for (const kind of ['snapshots', 'forks'] as const) {
  test(`more than 2,000 ${kind} are refused`, async () => {
    const values = new Map(Array.from({ length: 2000 }, (_, i) => [String(i), {}]))
    const session = { snapshots: new Map(), forks: new Map(), [kind]: values } as unknown as ControlSession
    const route = stateRoutes.find(({ method, path }) => method === 'POST' && path === `/${kind}`)
    const request = { params: {}, query: new URLSearchParams(), body: undefined }
    await assert.rejects(async () => route?.run(session, request), {
      status: 409,
      message: `there are 2000 ${kind}, which is the maximum; remove some`,
    })
  })
}
