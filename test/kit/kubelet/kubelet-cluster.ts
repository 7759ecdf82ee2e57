// A server with one node, whose agent is the stand-in: certificates for both, the node and pods on it.

import { writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { issueCertificate, type KeyPair } from '../../src/net/issue-certificate.js'
import { expectStatus, until } from './fixtures.js'
import { NodeAgent } from './node-agent.js'
import { newFolder, ServerProcess } from './server-process.js'

/** An address of this machine that others could reach; undefined where it has none. */
const addressOf = (wanted: 'IPv4' | 'IPv6'): string | undefined =>
  Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ family, internal, address }) => family === wanted && !internal && !/^(?:169\.254\.|fe80:)/i.test(address))?.address

export const ownAddress = addressOf('IPv4')
export const ownAddress6 = addressOf('IPv6')

/** For the options of tests that go to pods: the machine's own address is refused, as it must be. */
export const needsAddress = { skip: ownAddress === undefined ? 'this machine has no address but its own' : false } as const

const times = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 }

export interface Certificates {
  readonly authority: KeyPair & { readonly commonName: string }
  readonly agent: KeyPair
  readonly client: KeyPair
}

export function makeCertificates(
  hosts: readonly string[] = ['127.0.0.1', 'localhost', ...(ownAddress === undefined ? [] : [ownAddress])],
): Certificates {
  const authority = { ...issueCertificate({ commonName: 'agents', use: 'authority', ...times }), commonName: 'agents' }
  return {
    authority,
    agent: issueCertificate({ commonName: 'node', hosts: [...hosts], use: 'server', ...times }, authority),
    client: issueCertificate({ commonName: 'the-server', use: 'client', ...times }, authority),
  }
}

export interface AgentCluster {
  readonly server: ServerProcess
  readonly agent: NodeAgent
  readonly certificates: Certificates
  /** In the namespace `default`, on the node. */
  makePod(name: string, more?: Readonly<Record<string, unknown>>): Promise<void>
  close(): Promise<void>
}

export interface ClusterOptions {
  readonly flags?: readonly string[]
  /** Where the node says that it is. */
  readonly address?: string
  readonly nodeFlags?: readonly string[]
}

export async function startAgentCluster({ flags = [], address = '127.0.0.1', nodeFlags = [] }: ClusterOptions = {}): Promise<AgentCluster> {
  const certificates = makeCertificates()
  const folder = newFolder()
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const agent = await NodeAgent.start({ ...certificates.agent, clientCa: certificates.authority.cert, host: address })
  const server = await ServerProcess.start({
    nodeFlags,
    flags: [
      `--kubelet-certificate-authority=${file('agents.crt', certificates.authority.cert)}`,
      `--kubelet-client-certificate=${file('client.crt', certificates.client.cert)}`,
      `--kubelet-client-key=${file('client.key', certificates.client.key)}`,
      '--kubelet-preferred-address-types=InternalIP,Hostname',
      ...flags,
    ],
  })
  const { client } = server
  const status = {
    addresses: [
      { type: 'Hostname', address: 'no-such-host.invalid' },
      { type: 'InternalIP', address },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: agent.port } },
  }
  // Pods run as it, and it is made behind the start.
  await until(
    () => client.get('/api/v1/namespaces/default/serviceaccounts/default'),
    (answer) => answer.status === 200,
  )
  expectStatus(await client.post('/api/v1/nodes', { metadata: { name: 'node' }, status }), 201)
  return {
    server,
    agent,
    certificates,
    makePod: async (name, more = {}) => {
      const spec = { nodeName: 'node', containers: [{ name: 'main', image: 'registry.example/main:1' }], ...more }
      expectStatus(await client.post('/api/v1/namespaces/default/pods', { metadata: { name }, spec }), 201)
    },
    close: async () => {
      await server.stop()
      await agent.close()
    },
  }
}

/** Says where a pod is. */
export async function placePod({ client }: Pick<ServerProcess, 'client'>, name: string, ip: string): Promise<void> {
  const status = { status: { phase: 'Running', podIP: ip, podIPs: [{ ip }] } }
  expectStatus(await client.patch(`/api/v1/namespaces/default/pods/${name}/status`, 'application/merge-patch+json', status), 200)
}
