// Bearer tokens in Sec-WebSocket-Protocol: valid ones, and every reason for rejection.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { User } from '@cluster-apiserver/api/api/user.js'
import { tokenCredentials } from '../authenticate.js'
import { webSocketTokens } from './websocket-tokens.js'

const alice: User = { name: 'alice', uid: '', groups: [], extra: {} }
const authenticate = webSocketTokens(identityOf('kubernetes'), async ({ bearerToken }) =>
  bearerToken === 'secret' ? { user: alice } : { problems: ['invalid bearer token'] },
)
const tokenProtocol = (token: string): string => `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`
const withProtocols = (protocols: readonly string[], upgrade = 'WebSocket', connection = 'keep-alive, Upgrade') =>
  authenticate({
    ...tokenCredentials(''),
    rawHeaders: ['Connection', connection, 'Upgrade', upgrade, ...protocols.flatMap((protocol) => ['Sec-WebSocket-Protocol', protocol])],
  })

test('a token next to another subprotocol authenticates', async () => {
  assert.deepEqual(await withProtocols([`${tokenProtocol('secret')}, v4.channel.k8s.io`]), { user: alice })
  assert.deepEqual(await withProtocols(['v4.channel.k8s.io', tokenProtocol('secret')]), { user: alice })
})

test('requests without a token subprotocol or without a WebSocket upgrade are ignored', async () => {
  assert.equal(await withProtocols([]), undefined)
  assert.equal(await withProtocols(['v4.channel.k8s.io']), undefined)
  assert.equal(await withProtocols([tokenProtocol('secret'), 'x'], 'SPDY/3.1'), undefined)
  assert.equal(await withProtocols([tokenProtocol('secret'), 'x'], 'websocket', 'close'), undefined)
  assert.equal(await withProtocols([tokenProtocol(''), 'x']), undefined)
})

test('an invalid token is rejected with its reason', async () => {
  const problem = async (protocols: readonly string[]): Promise<unknown> =>
    ((await withProtocols(protocols)) as { readonly problems?: unknown }).problems
  assert.deepEqual(await problem([tokenProtocol('guess'), 'x']), ['invalid bearer token'])
  assert.deepEqual(await problem([tokenProtocol('secret')]), ['missing additional subprotocol'])
  assert.deepEqual(await problem([`${tokenProtocol('secret')},${tokenProtocol('secret')},x`]), [
    'multiple base64.bearer.authorization tokens specified',
  ])
  assert.deepEqual(await problem([`${tokenProtocol('secret')}==,x`]), ['invalid base64.bearer.authorization token encoding'])
  assert.deepEqual(await problem([`base64url.bearer.authorization.k8s.io.${Buffer.from([0xff, 0xfe]).toString('base64url')},x`]), [
    'invalid base64.bearer.authorization token',
  ])
})
