// Emulates envtest of controller-runtime: starts etcd and kube-apiserver of a folder with its flags, files, health polls and --help probes.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get as httpGet, type IncomingMessage } from 'node:http'
import { get as httpsGet } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { ApiClient } from '../../../../test/kit/api-client.js'
import { sleep, until } from '../../../../test/kit/fixtures.js'
import { type CertificateRequest, certifyKey, type KeyPair } from '../../src/net/tls/issue-certificate.js'
import { freePorts } from '../etcd/etcd-cluster.js'

const runningProcesses = new Set<ChildProcess>()
const folders: string[] = []
after(() => {
  for (const child of runningProcesses) child.kill('SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A CA with RSA keys, as envtest makes them. */
export class TinyCa {
  readonly pair: KeyPair
  readonly #name = { commonName: 'envtest-environment', organizations: ['envtest'] }

  constructor() {
    this.pair = this.#certify({ ...this.#name, use: 'authority' })
  }

  serving(...hosts: readonly string[]): KeyPair {
    return this.#certify({ commonName: 'localhost', organizations: ['envtest'], hosts, use: 'server' }, this.pair)
  }

  client(commonName: string, organizations: readonly string[]): KeyPair {
    return this.#certify({ commonName, organizations, use: 'client' }, this.pair)
  }

  #certify(request: Omit<CertificateRequest, 'notBefore' | 'notAfter'>, issuer?: KeyPair): KeyPair {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
    const validity = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 604_800_000 }
    return { cert: certifyKey({ ...request, ...validity }, publicKey, { ...this.#name, key: issuer?.key ?? key }), key }
  }
}

/** Made once for all control planes: keys take longer than a start. */
const certificates = {
  clients: new TinyCa(),
  server: new TinyCa(),
  tokens: new TinyCa().pair,
}
const serving = certificates.server.serving('localhost', '127.0.0.1')

interface Addresses {
  readonly folder: string
  readonly port: number
  readonly etcdPort: number
  readonly peerPort: number
}

type FlagsOf = (addresses: Addresses) => readonly string[]

const flagsOf = (values: { readonly [name: string]: string | number }): readonly string[] =>
  Object.entries(values)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `--${name}=${value}`)

/** Flags of kube-apiserver in controller-runtime 0.11 and later, for servers without --insecure-port. */
export const usualFlags: FlagsOf = ({ folder, port, etcdPort }) =>
  flagsOf({
    'allow-privileged': 'true',
    'authorization-mode': 'RBAC',
    'bind-address': '127.0.0.1',
    'cert-dir': folder,
    'client-ca-file': join(folder, 'client-cert-auth-ca.crt'),
    'disable-admission-plugins': 'ServiceAccount',
    'etcd-servers': `http://127.0.0.1:${etcdPort}`,
    'secure-port': port,
    'service-account-issuer': `https://127.0.0.1:${port}/`,
    'service-account-key-file': join(folder, 'sa-signer.crt'),
    'service-account-signing-key-file': join(folder, 'sa-signer.key'),
    'service-cluster-ip-range': '10.0.0.0/24',
  })

/** `envtest.DefaultKubeAPIServerFlags`: the template of --insecure-bind-address becomes an empty argument. */
export const deprecatedFlags: FlagsOf = ({ folder, port, etcdPort }) => [
  ...flagsOf({
    'advertise-address': '127.0.0.1',
    'allow-privileged': 'true',
    'authorization-mode': 'RBAC',
    'cert-dir': folder,
    'client-ca-file': join(folder, 'client-cert-auth-ca.crt'),
    'disable-admission-plugins': 'ServiceAccount',
    'etcd-servers': `http://127.0.0.1:${etcdPort}`,
    'insecure-port': 0,
    'secure-port': port,
    'service-cluster-ip-range': '10.0.0.0/24',
  }),
  '',
]

/** jenvtest for Java: values are separate arguments, and some flags occur twice. */
export const javaFlags: FlagsOf = ({ folder, port, etcdPort }) => [
  ...['--cert-dir', folder],
  ...['--secure-port', String(port)],
  ...['--etcd-servers', `http://0.0.0.0:${etcdPort}`],
  ...['--authorization-mode', 'RBAC'],
  ...['--service-account-issuer', 'https://localhost'],
  ...['--service-account-signing-key-file', join(folder, 'apiserver.key')],
  ...['--service-account-signing-key-file', join(folder, 'apiserver.key')],
  ...['--service-account-key-file', join(folder, 'apiserver.key')],
  ...['--service-account-issuer', join(folder, 'apiserver.crt')],
  ...['--disable-admission-plugins', 'ServiceAccount'],
  ...['--client-ca-file', join(folder, 'client-cert-auth-ca.crt')],
  ...['--service-cluster-ip-range', '10.0.0.0/24'],
  '--allow-privileged',
]

export const usualEtcdFlags: FlagsOf = ({ folder, etcdPort, peerPort }) =>
  flagsOf({
    'advertise-client-urls': `http://127.0.0.1:${etcdPort}`,
    'data-dir': join(folder, 'etcd'),
    'listen-client-urls': `http://127.0.0.1:${etcdPort}`,
    'listen-peer-urls': `http://127.0.0.1:${peerPort}`,
    'unsafe-no-fsync': 'true',
  })

/** Flags with one dash, as Go accepts them. */
export const javaEtcdFlags: FlagsOf = ({ folder, etcdPort, peerPort }) => [
  ...['-data-dir', join(folder, 'etcd')],
  ...['-wal-dir', join(folder, 'wal')],
  ...['--listen-client-urls', `http://0.0.0.0:${etcdPort}`],
  ...['--advertise-client-urls', `http://0.0.0.0:${etcdPort}`],
  ...['--listen-peer-urls', `http://localhost:${peerPort}`],
]

export interface PlaneOptions {
  readonly flags?: FlagsOf
  readonly etcdFlags?: FlagsOf
  readonly environment?: { readonly [name: string]: string }
}

/** Free ports, and a folder with the files that envtest writes before it starts kube-apiserver. */
export async function prepare(): Promise<Addresses> {
  const folder = mkdtempSync(join(tmpdir(), 'k8s_test_framework_'))
  folders.push(folder)
  const [port = 0, etcdPort = 0, peerPort = 0] = await freePorts(3)
  for (const [name, text] of [
    ['apiserver.crt', serving.cert],
    ['apiserver.key', serving.key],
    ['sa-signer.crt', certificates.tokens.cert],
    ['sa-signer.key', certificates.tokens.key],
    ['client-cert-auth-ca.crt', certificates.clients.pair.cert],
  ] as const)
    writeFileSync(join(folder, name), text)
  return { folder, port, etcdPort, peerPort }
}

/** A command in a process group of its own, as envtest starts it. */
export class Command {
  readonly pid: number
  readonly #child: ChildProcess
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
  output = ''

  constructor(path: string, flags: readonly string[], environment: PlaneOptions['environment'] = {}) {
    this.#child = spawn(path, flags, { detached: true, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...environment } })
    this.pid = this.#child.pid ?? 0
    runningProcesses.add(this.#child)
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream?.on('data', (chunk: Buffer) => (this.output += chunk))
    this.exited = new Promise((resolve) =>
      this.#child.once('close', (code, signal) => {
        runningProcesses.delete(this.#child)
        resolve({ code, signal })
      }),
    )
  }

  /** Polls until the URL returns 200. Throws if the process ends before. */
  async untilHealthy(url: string): Promise<void> {
    let hasEnded = false
    void this.exited.then(() => {
      hasEnded = true
    })
    while ((await statusOf(url)) !== 200) {
      if (hasEnded) throw new Error(`ended before it was healthy:\n${this.output}`)
      await sleep(20)
    }
  }

  /** Signals the process group, as newer versions of envtest do, and waits for the end. */
  stop(signal: NodeJS.Signals): Promise<unknown> {
    process.kill(-this.pid, signal)
    return this.exited
  }
}

/** Status code; undefined without a connection. Certificates are not verified, as in envtest's health checks. */
export const statusOf = (url: string): Promise<number | undefined> =>
  new Promise((resolve) => {
    const options = { agent: false, rejectUnauthorized: false } as const
    const request = url.startsWith('https:') ? httpsGet(url, options, onResponse) : httpGet(url, options, onResponse)
    function onResponse(response: IncomingMessage): void {
      response.resume()
      resolve(response.statusCode)
    }
    request.on('error', () => resolve(undefined))
  })

/** Looks for a flag in the help, as envtest does. */
export const hasFlag = (path: string, flag: string): boolean =>
  new RegExp(`^\\s*--${flag}\\b`, 'm').test(execFileSync(path, ['--help'], { encoding: 'utf8' }))

export class ControlPlane {
  readonly addresses: Addresses
  readonly apiserver: Command
  /** The etcd command of `cluster-apiserver envtest`; undefined if the test runs a real etcd. */
  readonly etcd: Command | undefined
  readonly url: string
  readonly #clients: ApiClient[] = []

  constructor(addresses: Addresses, apiserver: Command, etcd?: Command) {
    this.addresses = addresses
    this.apiserver = apiserver
    this.etcd = etcd
    this.url = `https://127.0.0.1:${addresses.port}`
  }

  static async start(assets: string, options: PlaneOptions = {}): Promise<ControlPlane> {
    const addresses = await prepare()
    const etcd = new Command(join(assets, 'etcd'), (options.etcdFlags ?? usualEtcdFlags)(addresses))
    await etcd.untilHealthy(`http://127.0.0.1:${addresses.etcdPort}/health`)
    const apiserver = new Command(join(assets, 'kube-apiserver'), (options.flags ?? usualFlags)(addresses), options.environment)
    await apiserver.untilHealthy(`https://127.0.0.1:${addresses.port}/healthz`)
    return new ControlPlane(addresses, apiserver, etcd)
  }

  /** A user with a certificate of the CA in --client-ca-file. */
  addUser(name: string, groups: readonly string[]): { readonly client: ApiClient; readonly kubeconfig: string } {
    const pair = certificates.clients.client(name, groups)
    return { client: this.clientWith(pair), kubeconfig: this.#writeKubeconfig(name, pair) }
  }

  clientWith(pair: KeyPair): ApiClient {
    const client = new ApiClient({ url: this.url, ca: certificates.server.pair.cert, pair })
    this.#clients.push(client)
    return client
  }

  #writeKubeconfig(name: string, { cert, key }: KeyPair): string {
    const base64 = (text: string): string => Buffer.from(text).toString('base64')
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'envtest', cluster: { server: this.url, 'certificate-authority-data': base64(certificates.server.pair.cert) } }],
      users: [{ name, user: { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) } }],
      contexts: [{ name: 'envtest', context: { cluster: 'envtest', user: name } }],
      'current-context': 'envtest',
    }
    const path = join(this.addresses.folder, `${name}.kubecfg`)
    writeFileSync(path, JSON.stringify(config))
    return path
  }

  /** Stops kube-apiserver first, as envtest does. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    for (const client of this.#clients) client.close()
    await this.apiserver.stop(signal)
    await this.etcd?.stop(signal)
  }
}

/** Waits until nothing listens on the ports of the control plane. */
export const untilEnded = ({ port, etcdPort }: Addresses): Promise<unknown> =>
  until(
    () => Promise.all([statusOf(`https://127.0.0.1:${port}/healthz`), statusOf(`http://127.0.0.1:${etcdPort}/health`)]),
    (statuses) => statuses.every((status) => status === undefined),
  )
