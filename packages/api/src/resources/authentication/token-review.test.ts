// Reviews of tokens and of oneself, and requests for tokens.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../api/api-error.js'
import { frozen, lines, testContext, testNow } from '../../api/rule-context.fixture.js'
import { timeOf } from '../../schema/scalars.js'
import { writeValue } from '../../schema/write.js'
import { reviewSelf, selfSubjectReview } from './self-subject-review.js'
import { tokenSubresource } from './token-request.js'
import { tokenReview } from './token-review.js'

const user = { name: 'alice', uid: '', groups: ['devs'], extra: {} }
const context = { ...testContext(), user }

test('whatever one says of oneself, the server answers who one is', () => {
  const answer = reviewSelf(context)
  const schema = selfSubjectReview.versions[0]?.schema
  assert.ok(schema !== undefined)
  assert.deepEqual(JSON.parse(writeValue(schema, answer)), {
    metadata: { creationTimestamp: timeOf(testNow) },
    status: { userInfo: { username: 'alice', groups: ['devs'], name: 'alice' } },
  })
})

test('a review of a token needs one', () => {
  const question = frozen({ metadata: {}, spec: { token: 't' } })
  assert.equal(tokenReview.prepareCreate?.(question, context), question)
  assert.throws(
    () => tokenReview.prepareCreate?.(frozen({ metadata: {}, spec: {} }), context),
    (thrown) => thrown instanceof ApiError && thrown.status.code === 400,
  )
})

const short = 'spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes'
const long = 'spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds'
const lifetimes: readonly { readonly title: string; readonly spec?: object; readonly found: readonly string[] }[] = [
  { title: 'an hour if nothing is said', found: [] },
  { title: 'ten minutes', spec: { expirationSeconds: 600 }, found: [] },
  { title: 'less', spec: { expirationSeconds: 599 }, found: [short] },
  { title: 'nearly for ever', spec: { expirationSeconds: 4294967297 }, found: [long] },
]

for (const { title, spec, found } of lifetimes) {
  test(`a token for ${title}`, () => {
    const body = tokenSubresource.body
    const sent = frozen({ metadata: {}, ...(spec === undefined ? {} : { spec }) })
    const complete = body?.defaults?.(sent, context) ?? sent
    assert.equal(
      (complete as { spec: { expirationSeconds: number } }).spec.expirationSeconds,
      (spec as { expirationSeconds?: number })?.expirationSeconds ?? 3600,
    )
    assert.deepEqual(lines(body?.validate?.(complete, context) ?? []), found)
  })
}
