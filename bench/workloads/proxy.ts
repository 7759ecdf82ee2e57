// Proxied bytes: to a pod, and through an upgraded connection to a kubelet, compared with a bare proxy.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { FakeKubelet } from '../../test/kit/kubelet/fake-kubelet.js'
import { makeCertificates, ownAddress } from '../../test/kit/kubelet/kubelet-cluster.js'
import type { FloorProxyStart } from '../floor-proxy.js'
import { fetchOnce, type Lab } from '../lab.js'
import { cpuOf, type Served } from '../load.js'
import { compare, type Side } from '../measure.js'
import { type Line, microseconds } from '../report.js'

const bar = 1.5
export const bodyBytes = 8 << 20
const block = Buffer.alloc(64 << 10, 'x')

export async function measureProxy(lab: Lab): Promise<readonly Line[]> {
  const certificates = makeCertificates()
  const writeFile = (name: string, text: string): string => {
    writeFileSync(join(lab.folder, name), text)
    return join(lab.folder, name)
  }
  const kubelet = await FakeKubelet.start({ ...certificates.kubelet, clientCa: certificates.authority.cert })
  lab.closeLater(() => kubelet.close())
  kubelet.interceptUpgrade = (_request, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
    writeEndlessly(socket)
    return true
  }
  const { process: server, served } = await lab.start([
    `--kubelet-certificate-authority=${writeFile('kubelets.crt', certificates.authority.cert)}`,
    `--kubelet-client-certificate=${writeFile('kubelet-client.crt', certificates.client.cert)}`,
    `--kubelet-client-key=${writeFile('kubelet-client.key', certificates.client.key)}`,
  ])
  await makeNodeAndPod(served, kubelet.port)
  const readPki = (name: string): string => readFileSync(join(server.dataDir, 'pki', name), 'utf8')
  const floorTo = (target: Omit<FloorProxyStart, 'cert' | 'key'>): Promise<Served> =>
    startFloor(lab, served, { cert: readPki('serving.crt'), key: readPki('serving.key'), ...target })
  const floor = await floorTo({ host: '127.0.0.1', port: kubelet.port, client: certificates.client })
  const attach = '/api/v1/namespaces/default/pods/one/attach?stdout=1'
  const lines = [
    await lineOf(lab, '1 MiB through another protocol, encrypted on both sides', [
      streaming(floor, '/attach/default/one/main'),
      streaming(served, attach),
    ]),
  ]
  if (ownAddress === undefined)
    return [...lines, { workload: '1 MiB through a proxy to a pod', floor: '', server: '', note: 'no address but loopback' }]
  const pod = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Length': bodyBytes })
    response.end(Buffer.alloc(bodyBytes, 'x'))
  })
  await once(pod.listen(0, ownAddress), 'listening')
  lab.closeLater(async () => void pod.closeAllConnections())
  const { port } = pod.address() as AddressInfo
  const plainFloor = await floorTo({ host: ownAddress, port })
  const sides = [
    sequentialRequests(plainFloor, '/'),
    sequentialRequests(served, `/api/v1/namespaces/default/pods/one:${port}/proxy/`),
  ] as const
  const proxied = await lineOf(lab, '1 MiB through a proxy to a pod', sides)
  pod.close()
  return [...lines, proxied]
}

export async function lineOf(lab: Lab, workload: string, [floorSide, serverSide]: readonly [Side, Side]): Promise<Line> {
  const { floor, server, ratio, perSecond } = await compare(floorSide, serverSide, lab.rounds)
  return { workload, floor: microseconds(floor), server: microseconds(server), ratio, bar, note: `${perSecond.toFixed(0)} MiB/s` }
}

function writeEndlessly(socket: Duplex): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(block));
    if (!socket.destroyed) socket.once('drain', more)
  }
  more()
}

async function makeNodeAndPod(served: Served, port: number): Promise<void> {
  const post = async (path: string, object: unknown, method = 'POST'): Promise<void> => {
    const { status } = await fetchOnce(served, { method, path, body: JSON.stringify(object) })
    if (status > 299) throw new Error(`${method} ${path}: ${status}`)
  }
  const status = { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }], daemonEndpoints: { kubeletEndpoint: { Port: port } } }
  await post('/api/v1/nodes', { metadata: { name: 'node' }, status })
  const pod = { metadata: { name: 'one' }, spec: { nodeName: 'node', containers: [{ name: 'main', image: 'registry.example/main:1' }] } }
  // The default ServiceAccount is created after the start.
  const account = { method: 'GET', path: '/api/v1/namespaces/default/serviceaccounts/default' }
  while ((await fetchOnce(served, account)).status !== 200) await sleep(50)
  await post('/api/v1/namespaces/default/pods', pod)
  const podStatus = { ...pod, status: { podIP: ownAddress ?? '', podIPs: ownAddress === undefined ? [] : [{ ip: ownAddress }] } }
  await post('/api/v1/namespaces/default/pods/one/status', podStatus, 'PUT')
}

export async function startFloor(lab: Lab, { ca, token }: Served, start: FloorProxyStart): Promise<Served> {
  const child: ChildProcess = fork(fileURLToPath(new URL('../floor-proxy.js', import.meta.url)), [JSON.stringify(start)])
  lab.closeLater(async () => child.disconnect())
  const [port] = (await once(child, 'message')) as [number]
  return { port, pid: child.pid ?? 0, ca, token }
}

async function dial({ port, ca }: Served): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, ca, ALPNProtocols: ['http/1.1'] })
  await once(socket, 'secureConnect')
  return socket
}

const headOf = ({ token }: Served, path: string, more = ''): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n${more}\r\n`

/** Reads on one connection for the duration. */
const streaming = (served: Served, path: string): Side => ({
  run: async (durationMs) => {
    const socket = await dial(served)
    let bytes = 0
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    socket.write(headOf(served, path, 'Connection: Upgrade\r\nUpgrade: x\r\n'))
    await once(socket, 'data')
    const before = cpuOf(served)
    const begun = performance.now()
    bytes = 0
    await sleep(durationMs)
    const spent = cpuOf(served) - before
    const mebibytes = bytes / 2 ** 20
    const seconds = (performance.now() - begun) / 1000
    socket.destroy()
    return { requests: mebibytes, cpuMicrosecondsEach: spent / mebibytes, perSecond: mebibytes / seconds }
  },
})

/** Sequential requests on one connection. */
export const sequentialRequests = (served: Served, path: string): Side => ({
  run: async (durationMs) => {
    const socket = await dial(served)
    const before = cpuOf(served)
    const begun = performance.now()
    let responses = 0
    while (performance.now() - begun < durationMs) {
      await readResponse(socket, headOf(served, path))
      responses++
    }
    const spent = cpuOf(served) - before
    const mebibytes = (responses * bodyBytes) / 2 ** 20
    const seconds = (performance.now() - begun) / 1000
    socket.destroy()
    return { requests: mebibytes, cpuMicrosecondsEach: spent / mebibytes, perSecond: mebibytes / seconds }
  },
})

function readResponse(socket: TLSSocket, request: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let left: number | undefined
    const take = (chunk: Buffer): void => {
      const isFirst = left === undefined
      const head = isFirst ? chunk.indexOf('\r\n\r\n') + 4 : 0
      if (isFirst && !chunk.subarray(0, 15).toString().includes(' 200 ')) reject(new Error(chunk.subarray(0, head).toString()))
      left = (left ?? bodyBytes) - (chunk.length - head)
      if (left > 0) return
      socket.off('data', take)
      resolve()
    }
    socket.on('data', take)
    socket.write(request)
  })
}
