// Tokens in the names of protocols: whose they are, and every way in which they are no good.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '../api/identity.js'
import type { User } from '../api/user.js'
import { tokenCredentials } from './authenticate.js'
import { webSocketTokens } from './websocket-tokens.js'

const alice: User = { name: 'alice', uid: '', groups: [], extra: {} }
const authenticate = webSocketTokens(identityOf('kubernetes'), ({ bearerToken }) =>
  bearerToken === 'secret' ? { user: alice } : { problems: ['invalid bearer token'] },
)
const withToken = (token: string): string => `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`
const ask = (protocols: readonly string[], upgrade = 'WebSocket', connection = 'keep-alive, Upgrade') =>
  authenticate({
    ...tokenCredentials(''),
    rawHeaders: ['Connection', connection, 'Upgrade', upgrade, ...protocols.flatMap((protocol) => ['Sec-WebSocket-Protocol', protocol])],
  })

test('a token beside another protocol is one', () => {
  assert.deepEqual(ask([`${withToken('secret')}, v4.channel.k8s.io`]), { user: alice })
  assert.deepEqual(ask(['v4.channel.k8s.io', withToken('secret')]), { user: alice })
})

test('who offers none, or speaks something else, is not asked', () => {
  assert.equal(ask([]), undefined)
  assert.equal(ask(['v4.channel.k8s.io']), undefined)
  assert.equal(ask([withToken('secret'), 'x'], 'SPDY/3.1'), undefined)
  assert.equal(ask([withToken('secret'), 'x'], 'websocket', 'close'), undefined)
  assert.equal(ask([withToken(''), 'x']), undefined)
})

test('a token that is no good is refused with its reason', () => {
  const problem = (protocols: readonly string[]): unknown => (ask(protocols) as { readonly problems?: unknown }).problems
  assert.deepEqual(problem([withToken('guess'), 'x']), ['invalid bearer token'])
  assert.deepEqual(problem([withToken('secret')]), ['missing additional subprotocol'])
  assert.deepEqual(problem([`${withToken('secret')},${withToken('secret')},x`]), ['multiple base64.bearer.authorization tokens specified'])
  assert.deepEqual(problem([`${withToken('secret')}==,x`]), ['invalid base64.bearer.authorization token encoding'])
  assert.deepEqual(problem([`base64url.bearer.authorization.k8s.io.${Buffer.from([0xff, 0xfe]).toString('base64url')},x`]), [
    'invalid base64.bearer.authorization token',
  ])
})
