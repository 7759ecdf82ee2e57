// The command credentials: prints a kubeconfig with a new client certificate or service account token.

import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { readYaml } from '@cluster-apiserver/api/codec/yaml/read-yaml.js'
import { base64, renderKubeconfig } from '../assemble/admin-kubeconfig.js'
import { caFile, pkiFolder, signerOf } from '../assemble/certificates/serving-certificate.js'
import { accountOf } from '../auth/service-account/service-account-claims.js'
import { JsonEndpoint } from '../net/outbound/json-endpoint.js'
import { issueCertificate } from '../net/tls/issue-certificate.js'
import { readOptionalFile } from '../options/files/private-files.js'
import { parseDuration } from '../options/flags/flag-value.js'
import { type CommandOutput, runCommand } from './command-process.js'

interface CredentialsProcess extends CommandOutput {
  readonly now: () => number
}

const usage = `usage: cluster-apiserver credentials --user=<name> [--group=<name>]… [--expires=24h] [--data-dir=./cluster-data]
       cluster-apiserver credentials --token --user=system:serviceaccount:<namespace>:<name> [--expires=24h] [--data-dir=./cluster-data]

Prints a kubeconfig with a new client certificate, signed by the CA of the data folder. Servers accept it unless they were started with
--client-ca-file. A certificate cannot be revoked before it expires.
With --token, the running server issues a token of a service account, which is valid as long as the account exists.

  --user=<name>       user name
  --group=<name>      group of the user; repeatable
  --expires=<time>    lifetime, such as 90s, 5m or 1h30m (default 24h)
  --token             issue a token; the user must be a service account, and the server must run
  --cert-dir=<folder> folder of the CA; if unset, pki in the data folder
  --server=<url>      URL of the server; if unset, the URL in admin.conf of the data folder

Exit codes: 0 success, 1 failure, 2 invalid command line.
`

/** Tolerates servers whose clock is behind. */
const backdateMs = 3_600_000
const minLifetimeMs = 1000
const maxLifetimeMs = 10 * 365 * 86_400_000

export function runCredentialsCommand(args: readonly string[], { now, ...output }: CredentialsProcess): Promise<number> {
  const run = async (options: CommandOptions): Promise<undefined> => {
    output.print(await configurationFor(options, now()))
  }
  return runCommand({ name: 'credentials', usage, read: readArguments, run }, args, output)
}

interface CommandOptions {
  readonly user: string
  readonly groups: readonly string[]
  readonly expiresMs: number
  readonly account: Account | undefined
  readonly dataDir: string
  readonly caFolder: string
  readonly server: string | undefined
}

function readArguments(args: readonly string[]): CommandOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      user: { type: 'string' },
      group: { type: 'string', multiple: true, default: [] },
      expires: { type: 'string', default: '24h' },
      'data-dir': { type: 'string', default: './cluster-data' },
      'cert-dir': { type: 'string' },
      token: { type: 'boolean', default: false },
      server: { type: 'string' },
    },
  })
  const { user = '', group: groups, expires, 'data-dir': dataDir, 'cert-dir': certDir, token, server } = values
  if (user === '') throw new Error('--user is missing')
  if ([user, ...groups].some((name) => name === '' || /\p{Cc}/u.test(name))) throw new Error('a name is empty or has control characters')
  const expiresMs = readExpiry(expires)
  if (expiresMs < minLifetimeMs || expiresMs > maxLifetimeMs)
    throw new Error(`--expires: ${JSON.stringify(expires)} must be between 1s and 10 years`)
  const account = token ? accountOf(user) : undefined
  if (token && account === undefined) throw new Error('--token needs --user=system:serviceaccount:<namespace>:<name>')
  if (token && groups.length > 0)
    throw new Error('--group: cannot be combined with --token; a service account has the groups of its namespace')
  return { user, groups, expiresMs, account, dataDir: resolve(dataDir), caFolder: resolve(certDir ?? pkiFolder(dataDir)), server }
}

function readExpiry(text: string): number {
  try {
    return parseDuration(text)
  } catch (thrown) {
    throw new Error(`--expires: ${(thrown as Error).message}`)
  }
}

async function configurationFor(options: CommandOptions, now: number): Promise<string> {
  const { user, dataDir, server, account } = options
  const admin = adminConfiguration(dataDir)
  const credential = account === undefined ? certificateFor(options, now) : await tokenFor(account, options, admin)
  return renderKubeconfig({ cluster: admin.name, server: server ?? admin.server, ca: admin.ca, user, credential })
}

type Credential = { readonly [field: string]: string }

function certificateFor({ user, groups, expiresMs, dataDir, caFolder }: CommandOptions, now: number): Credential {
  const [cert, key] = [readOptionalFile(caFile(caFolder)), readOptionalFile(join(caFolder, 'ca.key'))]
  if (cert === undefined || key === undefined)
    throw new Error(`there is no CA in ${caFolder}; start a server with --data-dir=${dataDir} first`)
  const validity = { notBefore: now - backdateMs, notAfter: now + expiresMs }
  const pair = issueCertificate({ commonName: user, organizations: groups, use: 'client', ...validity }, signerOf({ cert, key }))
  return { 'client-certificate-data': base64(pair.cert), 'client-key-data': base64(pair.key) }
}

type Account = NonNullable<ReturnType<typeof accountOf>>

/** Requests a token with the administrator's credentials. */
async function tokenFor({ namespace, name }: Account, { expiresMs, server }: CommandOptions, admin: AdminConnection): Promise<Credential> {
  const endpoint = new JsonEndpoint(
    {
      url: `${server ?? admin.server}/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
      ca: Buffer.from(admin.ca, 'base64').toString(),
      authorization: () => `Bearer ${admin.token}`,
    },
    { timeoutMs: responseTimeoutMs },
  )
  try {
    const { status, body } = await endpoint.post({ spec: { expirationSeconds: Math.ceil(expiresMs / 1000) } })
    const response = JSON.parse(body.toString()) as { readonly message?: string; readonly status?: { readonly token?: string } }
    if (status !== createdCode || response.status?.token === undefined)
      throw new Error(response.message ?? `the server returned status ${status}`)
    return { token: response.status.token }
  } finally {
    endpoint.close()
  }
}

const responseTimeoutMs = 10_000
const createdCode = 201

interface AdminConfiguration {
  readonly clusters: readonly {
    readonly name: string
    readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string }
  }[]
  readonly users: readonly { readonly user: { readonly token?: string } }[]
}

interface AdminConnection {
  readonly name: string
  readonly server: string
  readonly ca: string
  readonly token: string
}

function adminConfiguration(dataDir: string): AdminConnection {
  const path = join(dataDir, 'admin.conf')
  const text = readOptionalFile(path)
  const { clusters, users } = text === undefined ? { clusters: [], users: [] } : (readYaml(text).value as unknown as AdminConfiguration)
  const [first] = clusters
  if (first === undefined) throw new Error(`${path} has no server; start one with --data-dir=${dataDir} first`)
  return {
    name: first.name,
    server: first.cluster.server,
    ca: first.cluster['certificate-authority-data'],
    token: users[0]?.user.token ?? '',
  }
}
