// Client certificates with TLS session resumption: verified as on the first connection.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { type Embedded, startEmbedded } from '../../../../test/kit/embedded.js'
import { untilOnWorkers } from '../../../../test/kit/server-process.js'
import type { KeyPair } from '../../src/net/tls/issue-certificate.js'
import { FlagFiles, newAuthority, newClient } from './make-pki.js'
import { identify, openFlags, type ReviewedUser } from './self-subject-review.js'

const authority = newAuthority('clients')
const intermediate = newAuthority('intermediate', authority)
const foreignAuthority = newAuthority('clients')

const withChain = ({ cert, key }: KeyPair, ...issuers: readonly KeyPair[]): KeyPair => ({
  cert: [cert, ...issuers.map((issuer) => issuer.cert)].join(''),
  key,
})

const protocols = [
  { version: 'TLSv1.2', protocol: 'h1' },
  { version: 'TLSv1.2', protocol: 'h2' },
  { version: 'TLSv1.3', protocol: 'h1' },
  { version: 'TLSv1.3', protocol: 'h2' },
] as const

describe('client certificates on resumed connections', () => {
  const files = new FlagFiles()
  let running: Embedded
  before(async () => {
    running = await startEmbedded('memory', [...openFlags, `--client-ca-file=${files.write('ca.crt', authority.cert)}`])
  })
  after(async () => {
    await running.close()
    files.remove()
  })

  /** One client: each connection offers the latest TLS session. */
  function clientOf(pair: KeyPair, { version, protocol }: (typeof protocols)[number]) {
    const { url, caPem: ca } = running.server
    const { hostname: host, port } = new URL(url)
    let session: Buffer | undefined
    const open = (): TLSSocket =>
      connect({
        host,
        port: Number(port),
        ca,
        ...pair,
        minVersion: version,
        maxVersion: version,
        ALPNProtocols: [protocol === 'h2' ? 'h2' : 'http/1.1'],
        ...(session === undefined ? {} : { session }),
      }).on('session', (newest) => {
        session = newest
      })
    return {
      hasSession: () => session !== undefined,
      who: (): Promise<ReviewedUser> => identify(running.server, { protocol, connect: open }),
    }
  }

  for (const used of protocols) {
    const { version, protocol } = used
    test(`an intermediate CA, ${version}, ${protocol}`, async () => {
      const { who, hasSession } = clientOf(withChain(newClient(intermediate, 'lee'), intermediate), used)
      for (let connection = 1; connection <= 3; connection++) {
        const { status, name } = await who()
        assert.deepEqual({ status, name }, { status: 201, name: 'lee' }, `connection ${connection}`)
        assert.ok(hasSession(), 'the client has a session to offer')
      }
    })

    test(`rejected certificates stay rejected, ${version}, ${protocol}`, async () => {
      const foreign = newClient(foreignAuthority, 'mallory', { organizations: ['system:masters'] })
      const incomplete = newClient(intermediate, 'lee')
      for (const pair of [foreign, incomplete]) {
        const { who } = clientOf(pair, used)
        for (let connection = 1; connection <= 3; connection++) assert.equal((await who()).status, 401, `connection ${connection}`)
      }
    })
  }

  test('a session from before the client CA was replaced authenticates no user', async () => {
    const clients = protocols.map((used) => clientOf(withChain(newClient(intermediate, 'lee'), intermediate), used))
    for (const { who } of clients) assert.equal((await who()).name, 'lee')
    const next = newAuthority('next')
    files.write('ca.crt', next.cert)
    const kim = clientOf(newClient(next, 'kim'), protocols[0])
    await untilOnWorkers(kim.who, ({ name }) => name === 'kim')
    for (const { who } of clients) assert.equal((await who()).status, 401)
  })
})
