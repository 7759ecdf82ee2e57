// Requests without a credential, and headers that are none, or not quite.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ApiClient } from '../kit/api-client.js'
import { type Embedded, startEmbedded } from '../kit/embedded.js'
import { FlagFiles } from './make-pki.js'

const unauthorized = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'Unauthorized',
  reason: 'Unauthorized',
  code: 401,
}

describe('without a credential', () => {
  const files = new FlagFiles()
  const tokens = files.write('tokens.csv', 'ann-token,ann,u\n')
  let open: Embedded
  let closed: Embedded
  before(async () => {
    open = await startEmbedded('memory', [`--token-auth-file=${tokens}`])
    closed = await startEmbedded('memory', [`--token-auth-file=${tokens}`, '--anonymous-auth=false'])
  })
  after(async () => {
    await open.close()
    await closed.close()
    files.remove()
  })
  const get = async ({ server }: Embedded, path: string, authorization?: string) => {
    const client = new ApiClient({ url: server.url, ca: server.caPem })
    try {
      return await client.get(path, authorization === undefined ? {} : { authorization })
    } finally {
      client.close()
    }
  }

  test('one is anonymous, and may what the anonymous may', async () => {
    assert.equal((await get(open, '/livez')).status, 200)
    const { status, json } = await get(open, '/api')
    assert.equal(status, 403)
    assert.match(String(json.message), /User "system:anonymous"/)
  })

  test('where nobody may be anonymous one is refused everywhere', async () => {
    for (const path of ['/livez', '/version', '/api', '/nothing']) {
      const { status, json } = await get(closed, path)
      assert.equal(status, 401, path)
      assert.deepEqual(json, unauthorized)
    }
    assert.equal((await get(closed, '/api', 'Bearer ann-token')).status, 200)
  })

  test('a token that nobody knows is refused even where the anonymous may go', async () => {
    const { status, json } = await get(open, '/livez', 'Bearer wrong')
    assert.equal(status, 401)
    assert.deepEqual(json, unauthorized)
  })

  const headers: { readonly [header: string]: 200 | 401 | 403 } = {
    'Bearer ann-token': 200,
    'bearer ann-token': 200,
    'BEARER ann-token': 200,
    'Bearer ann-token and more': 200,
    'Bearer ann-token,bob-token': 401,
    'Bearer ann-toke': 401,
    'Bearer ann-token\u00e9': 401,
    Bearer: 403,
    'Bearer  ann-token': 403,
    'Bearer\tann-token': 403,
    'Basic YW5uOmFubi10b2tlbg==': 403,
    'Token ann-token': 403,
    'ann-token': 403,
  }
  for (const [header, wanted] of Object.entries(headers)) {
    test(`Authorization: ${JSON.stringify(header)} gives ${wanted}`, async () => {
      assert.equal((await get(open, '/api', header)).status, wanted)
    })
  }

  test('whoever writes one space too many is told', async () => {
    const { headers: answered } = await get(open, '/livez', 'Bearer  ann-token')
    assert.match(String(answered['warning']), /extra space before the bearer token, and is ignored/)
  })
})
