// How the server reaches what runs somewhere else: agents on nodes, and whatever pods and services listen on.

import { lookup } from 'node:dns/promises'
import { ForwardingRoom } from '../http/forward-exchange.js'
import { PodLogTallies } from '../http/metrics/pod-log-tallies.js'
import type { Reach } from '../http/serve-connection.js'
import type { KeyPair } from '../net/issue-certificate.js'
import { ReloadingCertificate } from '../net/reloading-certificate.js'
import { Upstream } from '../net/upstream.js'
import type { AgentFinding } from '../verbs/engine.js'
import type { Opening } from './opening.js'
import type { AgentSettings } from './options/settings.js'
import type { Outbound } from './outbound.js'

/** Each holds two connections for as long as both sides like; the port takes no more than 10,000 altogether. */
const mostForwarded = 4_000

export interface OpenReach extends Reach {
  readonly logTallies: PodLogTallies
}

export function makeReach({ settings, logger, closing }: Opening, { cluster: dial }: Pick<Outbound, 'cluster'>): OpenReach {
  const { ca, clientFiles, connectMs, bytesPerSecond } = settings.agents
  const limits = { connectMs: connectMs || usualConnectMs }
  const onChange = (pair: KeyPair): void => {
    for (const upstream of [upstreams.agent, upstreams.uncheckedAgent]) upstream.showCertificate(pair)
  }
  const reloading = clientFiles && new ReloadingCertificate(clientFiles, { logger, what: 'certificate for node agents', onChange })
  const upstreams = {
    // Without an authority nobody's certificate can be checked.
    agent: new Upstream({ ca, insecure: ca === undefined, ...reloading?.current, dial }, limits),
    uncheckedAgent: new Upstream({ insecure: true, ...reloading?.current, dial }, limits),
    // Pods and services of different tenants: a TCP connection per request costs less than one response in the wrong hands.
    anybody: new Upstream({ insecure: true, dial, neverReuses: true }),
  }
  closing.add(() => reloading?.close())
  closing.add(() => {
    for (const upstream of Object.values(upstreams)) upstream.close()
  })
  return { upstreams, room: new ForwardingRoom(mostForwarded), bytesPerSecond, logTallies: new PodLogTallies() }
}

const usualConnectMs = 5_000

export const agentFinding = ({ addressTypes }: AgentSettings): AgentFinding => ({
  addressTypes,
  lookup: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
})
