// Tests of TokenReview, SelfSubjectReview and TokenRequest.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../api/api-error.js'
import { frozen, lines, testContext, testNow } from '../../api/rule-context.fixture.js'
import { writeValue } from '../../schema/json/write.js'
import { timeOf } from '../../schema/scalars.js'
import { rowTitle } from '../expect-errors.fixture.js'
import { reviewSelf, selfSubjectReview, tokenReview, tokenSubresource } from './token-review.js'

const user = { name: 'alice', uid: '', groups: ['devs'], extra: {} }
const context = { ...testContext(), user }

test('a SelfSubjectReview returns the authenticated user', () => {
  const review = reviewSelf(context)
  const schema = selfSubjectReview.versions[0]?.schema
  assert.ok(schema !== undefined)
  assert.deepEqual(JSON.parse(writeValue(schema, review)), {
    metadata: { creationTimestamp: timeOf(testNow) },
    status: { userInfo: { username: 'alice', groups: ['devs'], name: 'alice' } },
  })
})

test('a TokenReview without a token returns 400', () => {
  const review = frozen({ metadata: {}, spec: { token: 't' } })
  assert.equal(tokenReview.prepareCreate?.(review, context), review)
  assert.throws(
    () => tokenReview.prepareCreate?.(frozen({ metadata: {}, spec: {} }), context),
    (thrown) => thrown instanceof ApiError && thrown.status.code === 400,
  )
})

const tooShort = 'spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes'
const tooLong = 'spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds'
const lifetimes: readonly (readonly [spec: object | undefined, ...expected: readonly string[]])[] = [
  [undefined],
  [{ expirationSeconds: 600 }],
  [{ expirationSeconds: 599 }, tooShort],
  [{ expirationSeconds: 4294967297 }, tooLong],
]

for (const [spec, ...expected] of lifetimes) {
  test(`a TokenRequest: ${rowTitle(spec, expected)}`, () => {
    const body = tokenSubresource.body
    const sent = frozen({ metadata: {}, ...(spec === undefined ? {} : { spec }) })
    const complete = body?.defaults?.(sent, context) ?? sent
    assert.equal(
      (complete as { spec: { expirationSeconds: number } }).spec.expirationSeconds,
      (spec as { expirationSeconds?: number })?.expirationSeconds ?? 3600,
    )
    assert.deepEqual(lines(body?.validate?.(complete, context) ?? []), expected)
  })
}
