// Anonymous requests, and malformed Authorization headers.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { ApiClient } from '../../../../test/kit/api-client.js'
import { type Embedded, startEmbedded } from '../../../../test/kit/embedded.js'
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

describe('requests without a credential', () => {
  const files = new FlagFiles()
  const tokens = files.write('tokens.csv', 'ann-token,ann,u\ntwo words,ann,u\ncrêpe à,ann,u\n')
  let allowing: Embedded
  let denying: Embedded
  before(async () => {
    allowing = await startEmbedded('memory', [`--token-auth-file=${tokens}`])
    denying = await startEmbedded('memory', [`--token-auth-file=${tokens}`, '--anonymous-auth=false'])
  })
  after(async () => {
    await allowing.close()
    await denying.close()
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

  test('are anonymous, with the permissions of anonymous users', async () => {
    assert.equal((await get(allowing, '/livez')).status, 200)
    const { status, json } = await get(allowing, '/api')
    assert.equal(status, 403)
    assert.match(String(json.message), /User "system:anonymous"/)
  })

  test('get 401 everywhere with --anonymous-auth=false', async () => {
    for (const path of ['/livez', '/version', '/api', '/nothing']) {
      const { status, json } = await get(denying, path)
      assert.equal(status, 401, path)
      assert.deepEqual(json, unauthorized)
    }
    assert.equal((await get(denying, '/api', 'Bearer ann-token')).status, 200)
  })

  test('an unknown token gets 401, also where anonymous users are allowed', async () => {
    const { status, json } = await get(allowing, '/livez', 'Bearer wrong')
    assert.equal(status, 401)
    assert.deepEqual(json, unauthorized)
  })

  /** Header values are written as Latin-1. */
  const latin1 = (text: string): string => Buffer.from(text).toString('latin1')
  const headers: { readonly [header: string]: 200 | 401 | 403 } = {
    'Bearer ann-token': 200,
    'bearer ann-token': 200,
    'BEARER ann-token': 200,
    'Bearer ann-token and more': 401,
    'Bearer two words': 200,
    [`Bearer ${latin1('crêpe à')}`]: 200,
    'Bearer crêpe à': 401,
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
  for (const [header, expected] of Object.entries(headers)) {
    test(`Authorization: ${JSON.stringify(header)} gives ${expected}`, async () => {
      assert.equal((await get(allowing, '/api', header)).status, expected)
    })
  }

  test('an extra space before the bearer token is ignored with a warning', async () => {
    const { headers: responseHeaders } = await get(allowing, '/livez', 'Bearer  ann-token')
    assert.match(String(responseHeaders['warning']), /extra space before the bearer token, and is ignored/)
  })

  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
    test(`a token in Sec-WebSocket-Protocol counts for ${method}`, async () => {
      const token = `base64url.bearer.authorization.cluster.io.${Buffer.from('two words').toString('base64url')}`
      const { url, caPem: ca } = allowing.server
      const sent = request(`${url}/api/v1/namespaces/default`, {
        ca,
        method,
        headers: { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Protocol': `${token}, v4.channel.cluster.io` },
      })
      sent.end(method === 'GET' ? undefined : '{}')
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      assert.match(await text(response), /User \\"ann\\" cannot/)
    })
})
