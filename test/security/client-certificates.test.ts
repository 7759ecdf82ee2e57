// Client certificates: who is believed, and who must not be.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { timedTest } from '../../src/base/timed-test.fixture.js'
import type { KeyPair } from '../../src/net/issue-certificate.js'
import { type Embedded, startEmbedded } from '../kit/embedded.js'
import { until } from '../kit/fixtures.js'
import { identify, openFlags, type Showing } from './identify.js'
import { FlagFiles, newAuthority, newClient } from './make-pki.js'

const authority = newAuthority('clients')
const second = newAuthority('more clients')
const between = newAuthority('between', second)
const later = newAuthority('later')
const stranger = newAuthority('clients') // the name alone is not believed
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
  const who = (showing: Showing) => identify(running.server, showing)
  const refused = async (pair: KeyPair, title: string) => {
    for (const protocol of ['h1', 'h2'] as const)
      assert.deepEqual(await who({ ...pair, protocol }), { status: 401 }, `${title}, ${protocol}`)
  }

  test('the common name is the user, and organizations are groups', async () => {
    const jane = newClient(authority, 'jane', { organizations: ['devs', 'readers'] })
    for (const protocol of ['h1', 'h2'] as const) {
      const known = await who({ ...jane, protocol })
      assert.deepEqual(known, { status: 201, name: 'jane', groups: ['devs', 'readers', 'system:authenticated'] })
    }
  })

  test('several authorities are believed, and what they sign through others', async () => {
    assert.equal((await who(newClient(second, 'kim'))).name, 'kim')
    const { cert, key } = newClient(between, 'lee')
    assert.equal((await who({ cert: `${cert}${between.cert}`, key })).name, 'lee')
    assert.equal((await who({ cert, key })).status, 401, 'without the one between them nothing leads to the authority')
  })

  test('a certificate counts before a token, and a bad one does not spoil a good token', async () => {
    assert.equal((await who({ ...newClient(authority, 'jane'), token: 'bob-token' })).name, 'jane')
    assert.equal((await who({ ...newClient(stranger, 'jane'), token: 'bob-token' })).name, 'bob')
  })

  test('others are refused', async () => {
    await refused(newClient(stranger, 'mallory', { organizations: ['system:masters'] }), 'of a foreign authority of the same name')
    await refused(newClient(authority, 'jane', { notAfter: Date.now() - hourMs }), 'expired')
    await refused(newClient(authority, 'jane', { notBefore: Date.now() + hourMs }), 'not yet valid')
    await refused(newClient(authority, 'jane', { use: 'server', hosts: ['localhost'] }), 'a server’s')
    await refused(newClient({ ...newClient(authority, 'jane'), commonName: 'jane' }, 'boss'), 'signed by a client')
    await refused(newAuthority('itself'), 'signed by itself')
    await refused(newClient(authority, '', { organizations: ['system:masters'] }), 'without a name')
  })

  test('names that hide something are refused', async () => {
    await refused(newClient(authority, 'admin\0.attacker.test'), 'NUL in the common name')
    await refused(newClient(authority, 'jane\nO=system:masters'), 'a line break in the common name')
    await refused(newClient(authority, 'jane', { organizations: ['system:masters\0x'] }), 'NUL in a group')
    const known = await who(newClient(authority, 'jane/O=system:masters, O=system:masters'))
    assert.deepEqual(known.groups, ['system:authenticated'])
  })

  timedTest('a certificate that expires on an open connection is refused at the next request', async (t) => {
    const client = newClient(authority, 'soon', { notAfter: Date.now() + 2500 })
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

  test('other authorities in the file count from then on, also for open connections', async () => {
    const kim = newClient(later, 'kim')
    const jane = newClient(authority, 'jane')
    assert.equal((await who(kim)).status, 401)
    files.write('ca.crt', later.cert)
    await until(
      () => who(kim),
      ({ name }) => name === 'kim',
      60_000,
    )
    assert.equal((await who(jane)).status, 401)
    files.write('ca.crt', 'nonsense')
    await new Promise((resolve) => setTimeout(resolve, 6000))
    assert.equal((await who(kim)).name, 'kim', 'a broken file changes nothing')
  })
})

test('without the flag nobody but the server’s own authority is believed', async () => {
  const running = await startEmbedded('memory', openFlags)
  try {
    assert.equal((await identify(running.server, newClient(authority, 'jane'))).status, 401)
  } finally {
    await running.close()
  }
})
