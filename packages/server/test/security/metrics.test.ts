// Authentication metrics: counts, without secrets and user names.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiClient } from '../../../../test/kit/api-client.js'
import { startEmbedded } from '../../../../test/kit/embedded.js'
import { expectStatus } from '../../../../test/kit/fixtures.js'
import { skipWithWorkers } from '../../../../test/kit/server-process.js'
import { FlagFiles } from './make-pki.js'

test('authentication metrics', { skip: skipWithWorkers('each has a token cache') }, async () => {
  const files = new FlagFiles()
  const running = await startEmbedded('memory', [`--token-auth-file=${files.write('tokens.csv', 'secret-of-bob,bob@example.com,u\n')}`])
  const as = async (token?: string) => {
    const client = new ApiClient({ url: running.server.url, ca: running.server.caPem, ...(token === undefined ? {} : { token }) })
    await client.get('/version')
    client.close()
  }
  try {
    await as()
    await as('secret-of-bob')
    await as('secret-of-bob')
    await as('not-a-token')
    const { text } = expectStatus(await running.client.get('/metrics'), 200)
    const value = (row: string): number =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${row} `))
          ?.split(' ')[1],
      )
    assert.equal(value('authentication_attempts{result="error"}'), 1)
    assert.ok(value('authentication_attempts{result="success"}') >= 4)
    assert.equal(value('authentication_duration_seconds_count{result="error"}'), 1)
    assert.equal(value('authenticated_user_requests{username="email_id"}'), 2)
    assert.ok(value('authentication_token_cache_request_total{status="hit"}') >= 1)
    assert.equal(value('authentication_token_cache_fetch_total{status="error"}'), 1)
    assert.equal(value('serviceaccount_stale_tokens_total'), 0)
    assert.equal(value('apiserver_client_certificate_expiration_seconds_count'), 0)
    for (const secret of ['secret-of-bob', 'not-a-token', 'bob@example.com']) assert.ok(!text.includes(secret), secret)
  } finally {
    await running.close()
    files.remove()
  }
})
