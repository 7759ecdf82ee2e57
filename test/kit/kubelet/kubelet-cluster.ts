// A server with one node and a fake kubelet: certificates, the node, and pods on it.

import { writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { issueCertificate, type KeyPair } from '../../../packages/server/src/net/tls/issue-certificate.js'
import { expectStatus, untilStatus } from '../fixtures.js'
import { newFolder, ServerProcess } from '../server-process.js'
import { FakeKubelet } from './fake-kubelet.js'

/** Non-loopback address of this machine; undefined if it has none. */
const addressOf = (wanted: 'IPv4' | 'IPv6'): string | undefined =>
  Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ family, internal, address }) => family === wanted && !internal && !/^(?:169\.254\.|fe80:)/i.test(address))?.address

export const ownAddress = addressOf('IPv4')
export const ownAddress6 = addressOf('IPv6')

/** Options of tests that proxy to pods: loopback addresses are rejected. */
export const needsAddress = { skip: ownAddress === undefined ? 'this machine has only loopback addresses' : false } as const

const validity = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 }

interface Certificates {
  readonly authority: KeyPair & { readonly commonName: string }
  readonly kubelet: KeyPair
  readonly client: KeyPair
}

export function makeCertificates(
  hosts: readonly string[] = ['127.0.0.1', 'localhost', ...(ownAddress === undefined ? [] : [ownAddress])],
): Certificates {
  const authority = { ...issueCertificate({ commonName: 'kubelets', use: 'authority', ...validity }), commonName: 'kubelets' }
  return {
    authority,
    kubelet: issueCertificate({ commonName: 'node', hosts: [...hosts], use: 'server', ...validity }, authority),
    client: issueCertificate({ commonName: 'the-server', use: 'client', ...validity }, authority),
  }
}

export interface KubeletCluster {
  readonly server: ServerProcess
  readonly kubelet: FakeKubelet
  readonly certificates: Certificates
  /** Creates a pod in `default` on the node. */
  makePod(name: string, more?: Readonly<Record<string, unknown>>): Promise<void>
  close(): Promise<void>
}

interface ClusterOptions {
  readonly flags?: readonly string[]
  /** Address of the node. */
  readonly address?: string
  readonly nodeFlags?: readonly string[]
}

export async function startKubeletCluster({
  flags = [],
  address = '127.0.0.1',
  nodeFlags = [],
}: ClusterOptions = {}): Promise<KubeletCluster> {
  const certificates = makeCertificates()
  const folder = newFolder()
  const writeFile = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const kubelet = await FakeKubelet.start({ ...certificates.kubelet, clientCa: certificates.authority.cert, host: address })
  const server = await ServerProcess.start({
    nodeFlags,
    flags: [
      `--kubelet-certificate-authority=${writeFile('kubelets.crt', certificates.authority.cert)}`,
      `--kubelet-client-certificate=${writeFile('client.crt', certificates.client.cert)}`,
      `--kubelet-client-key=${writeFile('client.key', certificates.client.key)}`,
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
    daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } },
  }
  // The default ServiceAccount is created after the start.
  await untilStatus(() => client.get('/api/v1/namespaces/default/serviceaccounts/default'), 200)
  expectStatus(await client.post('/api/v1/nodes', { metadata: { name: 'node' }, status }), 201)
  return {
    server,
    kubelet,
    certificates,
    makePod: async (name, more = {}) => {
      const spec = { nodeName: 'node', containers: [{ name: 'main', image: 'registry.example/main:1' }], ...more }
      expectStatus(await client.post('/api/v1/namespaces/default/pods', { metadata: { name }, spec }), 201)
    },
    close: async () => {
      await server.stop()
      await kubelet.close()
    },
  }
}

/** Sets the address of a pod. */
export async function setPodAddress({ client }: Pick<ServerProcess, 'client'>, name: string, ip: string): Promise<void> {
  const status = { status: { phase: 'Running', podIP: ip, podIPs: [{ ip }] } }
  expectStatus(await client.patch(`/api/v1/namespaces/default/pods/${name}/status`, 'application/merge-patch+json', status), 200)
}
