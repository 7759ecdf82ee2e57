// Client certificates: accepted and rejected ones, expiry, replaced CAs.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Embedded, startEmbedded } from '../../../../test/kit/embedded.js'
import { until } from '../../../../test/kit/fixtures.js'
import { untilOnWorkers } from '../../../../test/kit/server-process.js'
import type { KeyPair } from '../../src/net/tls/issue-certificate.js'
import { FlagFiles, newAuthority, newClient } from './make-pki.js'
import { identify, openFlags, type ReviewCredentials } from './self-subject-review.js'

const authority = newAuthority('clients')
const second = newAuthority('more clients')
const intermediate = newAuthority('between', second)
const replacementAuthority = newAuthority('later')
const foreignAuthority = newAuthority('clients') // same name, other key
const hourMs = 3_600_000

describe('client certificates', () => {
  const files = new FlagFiles()
  let running: Embedded
  before(async () => {
    const path = files.write('ca.crt', `${authority.cert}\n# the second one\n${second.cert}`)
    const tokens = files.write('tokens.csv', 'bob-token,bob,bob-uid\n')
    running = await startEmbedded('memory', [...openFlags, `--client-ca-file=${path}`, `--token-auth-file=${tokens}`])
  })
  after(async () => {
    await running.close()
    files.remove()
  })
  const identifyUser = (credentials: ReviewCredentials) => identify(running.server, credentials)
  const expectRejected = async (pair: KeyPair, title: string) => {
    for (const protocol of ['h1', 'h2'] as const)
      assert.deepEqual(await identifyUser({ ...pair, protocol }), { status: 401 }, `${title}, ${protocol}`)
  }

  test('the common name is the user, organizations are the groups', async () => {
    const jane = newClient(authority, 'jane', { organizations: ['devs', 'readers'] })
    for (const protocol of ['h1', 'h2'] as const) {
      const user = await identifyUser({ ...jane, protocol })
      assert.deepEqual(user, { status: 201, name: 'jane', groups: ['devs', 'readers', 'system:authenticated'] })
    }
  })

  test('several CAs are trusted, and their intermediate CAs', async () => {
    assert.equal((await identifyUser(newClient(second, 'kim'))).name, 'kim')
    const { cert, key } = newClient(intermediate, 'lee')
    assert.equal((await identifyUser({ cert: `${cert}${intermediate.cert}`, key })).name, 'lee')
    assert.equal((await identifyUser({ cert, key })).status, 401, 'without the intermediate certificate the chain is incomplete')
  })

  test('a certificate has precedence over a token, and an invalid one does not invalidate a token', async () => {
    assert.equal((await identifyUser({ ...newClient(authority, 'jane'), token: 'bob-token' })).name, 'jane')
    assert.equal((await identifyUser({ ...newClient(foreignAuthority, 'jane'), token: 'bob-token' })).name, 'bob')
  })

  test('certificates of other CAs are rejected', async () => {
    await expectRejected(
      newClient(foreignAuthority, 'mallory', { organizations: ['system:masters'] }),
      'of a foreign authority of the same name',
    )
    await expectRejected(newClient(authority, 'jane', { notAfter: Date.now() - hourMs }), 'expired')
    await expectRejected(newClient(authority, 'jane', { notBefore: Date.now() + hourMs }), 'not yet valid')
    await expectRejected(newClient(authority, 'jane', { use: 'server', hosts: ['localhost'] }), 'a server’s')
    await expectRejected(newClient({ ...newClient(authority, 'jane'), commonName: 'jane' }, 'boss'), 'signed by a client')
    await expectRejected(newAuthority('itself'), 'signed by itself')
    await expectRejected(newClient(authority, '', { organizations: ['system:masters'] }), 'without a name')
  })

  test('names with control characters are rejected', async () => {
    await expectRejected(newClient(authority, 'admin\0.attacker.test'), 'NUL in the common name')
    await expectRejected(newClient(authority, 'jane\nO=system:masters'), 'a line break in the common name')
    await expectRejected(newClient(authority, 'jane', { organizations: ['system:masters\0x'] }), 'NUL in a group')
    const user = await identifyUser(newClient(authority, 'jane/O=system:masters, O=system:masters'))
    assert.deepEqual(user.groups, ['system:authenticated'])
  })

  test('a certificate that expires on an open connection is rejected at the next request', async (t) => {
    const client = newClient(authority, 'soon', { notAfter: Date.now() + 4000 })
    const { Agent, request } = await import('node:https')
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: running.server.caPem, ...client })
    t.after(() => agent.destroy())
    const status = () =>
      new Promise<number>((resolve, reject) => {
        request(`${running.server.url}/api`, { agent }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode ?? 0))
        })
          .on('error', reject)
          .end()
      })
    assert.equal(await status(), 200)
    await until(status, (code) => code === 401)
  })

  test('a replaced CA file applies at once, also to open connections', async () => {
    const kim = newClient(replacementAuthority, 'kim')
    const jane = newClient(authority, 'jane')
    assert.equal((await identifyUser(kim)).status, 401)
    files.write('ca.crt', replacementAuthority.cert)
    await untilOnWorkers(
      () => identifyUser(kim),
      ({ name }) => name === 'kim',
    )
    assert.equal((await identifyUser(jane)).status, 401)
  })
})

test("without --client-ca-file only the server's own CA is trusted", async () => {
  const running = await startEmbedded('memory', openFlags)
  try {
    assert.equal((await identify(running.server, newClient(authority, 'jane'))).status, 401)
  } finally {
    await running.close()
  }
})
