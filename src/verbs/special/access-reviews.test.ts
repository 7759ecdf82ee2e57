// What somebody may do is left to somebody else to write down where it is very much.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Call } from '../../api/call.js'
import type { ApiObject } from '../../api/object.js'
import type { Authorizer } from '../../auth/authorize.js'
import { TooHeavyError } from '../../base/weight.js'
import type { Engine } from '../engine.js'
import { reviewOwnRules } from './access-reviews.js'

async function review(count: number): Promise<number> {
  const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: [] }
  const authorizer: Authorizer = {
    name: 'RBAC',
    authorize: () => ({ verdict: 'no-opinion', reason: '' }),
    rulesFor: () => ({ resourceRules: Array.from({ length: count }, () => rule), nonResourceRules: [] }),
  }
  const engine = { access: { authenticators: [], authorizers: [authorizer] } } as unknown as Engine
  const leaveIfMovable = (): void => {
    throw new TooHeavyError()
  }
  const call = { user: { name: 'u', uid: '', groups: [], extra: {} }, leaveIfMovable } as unknown as Call
  const answer = (await reviewOwnRules(engine, call, {} as ApiObject)) as {
    readonly status?: { readonly resourceRules: readonly unknown[] }
  }
  return answer.status?.resourceRules.length ?? 0
}

test('usual rights are told here, very many rules elsewhere', async () => {
  assert.equal(await review(1000), 1000)
  await assert.rejects(review(3000), TooHeavyError)
})
