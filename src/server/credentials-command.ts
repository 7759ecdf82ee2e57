// `cluster-apiserver credentials --user alice --group dev --expires 24h`: a client configuration with a certificate of the server's own authority,
// for whoever has its data folder. No server is asked, and none has to run. For service accounts there are tokens, too, which the server gives.

import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { accountOf } from '../auth/service-account-name.js'
import { readYaml } from '../codec/yaml/read-yaml.js'
import { issueCertificate } from '../net/issue-certificate.js'
import { JsonEndpoint } from '../net/json-endpoint.js'
import { caFile, pkiFolder, signerOf } from './certificates.js'
import { parseDuration } from './options/flag-value.js'
import { readOptionalFile } from './private-files.js'

export interface CredentialsSurroundings {
  readonly print: (text: string) => void
  readonly complain: (text: string) => void
  /** Milliseconds since 1970. */
  readonly now: () => number
}

const usage = `usage: cluster-apiserver credentials --user=<name> [--group=<name>]… [--expires=24h] [--data-dir=./cluster-data]
       cluster-apiserver credentials --token --user=system:serviceaccount:<namespace>:<name> [--expires=24h] [--data-dir=./cluster-data]

Prints a client configuration with a new client certificate, signed by the authority of the data folder. A server believes it unless it was
started with --client-ca-file. Such a certificate cannot be taken back before it expires.
With --token it is a token of a service account, which the server of the data folder is asked for: it ends with its account.

  --user=<name>       as whom the server knows whoever has the certificate
  --group=<name>      a group of that user; repeatable
  --expires=<time>    how long it is valid, such as 90s, 5m or 1h30m
  --token             a token and no certificate; the user must be a service account, and the server must run
  --cert-dir=<folder> where the server keeps its certificates; in pki of the data folder if left out
  --server=<address>  where the server is reached; as admin.conf of the data folder says if left out
`

/** From an hour ago, for servers whose clock is behind. */
const backdateMs = 3_600_000
const leastMs = 1000
const mostMs = 10 * 365 * 86_400_000

/** Answers the exit code: 0, 1 where it cannot be done, 2 where the command line is wrong. */
export async function runCredentialsCommand(args: readonly string[], { print, complain, now }: CredentialsSurroundings): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    print(usage)
    return 0
  }
  const wish = readArguments(args)
  if (typeof wish === 'string') {
    complain(`cluster-apiserver credentials: ${wish}\n\n${usage}`)
    return 2
  }
  try {
    print(await configurationFor(wish, now()))
    return 0
  } catch (thrown) {
    complain(`cluster-apiserver credentials: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`)
    return 1
  }
}

interface Wish {
  readonly user: string
  readonly groups: readonly string[]
  readonly expiresMs: number
  /** Whose token is wanted; undefined: a certificate is. */
  readonly account: Account | undefined
  readonly dataDir: string
  /** Where the authority is. */
  readonly folder: string
  readonly server: string | undefined
}

/** Or what is wrong with them. */
function readArguments(args: readonly string[]): Wish | string {
  try {
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
    if (user === '') return '--user is missing'
    if ([user, ...groups].some((name) => name === '' || /\p{Cc}/u.test(name))) return 'a name is empty or cannot be printed'
    const expiresMs = under('--expires', () => parseDuration(expires))
    if (expiresMs < leastMs || expiresMs > mostMs) return `--expires: ${JSON.stringify(expires)} is no time between 1s and 10 years`
    const account = token ? accountOf(user) : undefined
    if (token && account === undefined) return '--token is for service accounts: --user=system:serviceaccount:<namespace>:<name>'
    if (token && groups.length > 0) return '--group: a service account has the groups of its namespace'
    return { user, groups, expiresMs, account, dataDir: resolve(dataDir), folder: resolve(certDir ?? pkiFolder(dataDir)), server }
  } catch (thrown) {
    return (thrown as Error).message
  }
}

function under<T>(option: string, read: () => T): T {
  try {
    return read()
  } catch (thrown) {
    throw new Error(`${option}: ${(thrown as Error).message}`)
  }
}

async function configurationFor(wish: Wish, now: number): Promise<string> {
  const { user, dataDir, server, account } = wish
  const known = adminConfiguration(dataDir)
  const credential = account === undefined ? certificateFor(wish, now) : await tokenFor(account, wish, known)
  const text = (value: string): string => JSON.stringify(value)
  const context = `${user}@${known.name}`
  return `apiVersion: v1
kind: Config
clusters:
- name: ${text(known.name)}
  cluster:
    server: ${text(server ?? known.server)}
    certificate-authority-data: ${known.ca}
users:
- name: ${text(user)}
  user:
${credential}
contexts:
- name: ${text(context)}
  context:
    cluster: ${text(known.name)}
    user: ${text(user)}
current-context: ${text(context)}
preferences: {}
`
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** What stands in a configuration for the user. */
function certificateFor({ user, groups, expiresMs, dataDir, folder }: Wish, now: number): string {
  const [cert, key] = [readOptionalFile(caFile(folder)), readOptionalFile(join(folder, 'ca.key'))]
  if (cert === undefined || key === undefined)
    throw new Error(`there is no authority in ${folder}; start a server with --data-dir=${dataDir} first`)
  const times = { notBefore: now - backdateMs, notAfter: now + expiresMs }
  const pair = issueCertificate({ commonName: user, organizations: groups, use: 'client', ...times }, signerOf({ cert, key }))
  return `    client-certificate-data: ${base64(pair.cert)}\n    client-key-data: ${base64(pair.key)}`
}

type Account = NonNullable<ReturnType<typeof accountOf>>

/** The server is asked as its administrator. */
async function tokenFor({ namespace, name }: Account, { expiresMs, server }: Wish, known: KnownServer): Promise<string> {
  const endpoint = new JsonEndpoint(
    {
      url: `${server ?? known.server}/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
      ca: Buffer.from(known.ca, 'base64').toString(),
      authorization: () => `Bearer ${known.token}`,
    },
    { timeoutMs: answerMs },
  )
  try {
    const { status, body } = await endpoint.post({ spec: { expirationSeconds: Math.ceil(expiresMs / 1000) } })
    const answer = JSON.parse(body.toString()) as { readonly message?: string; readonly status?: { readonly token?: string } }
    if (status !== createdCode || answer.status?.token === undefined) throw new Error(answer.message ?? `the server answers ${status}`)
    return `    token: ${JSON.stringify(answer.status.token)}`
  } finally {
    endpoint.close()
  }
}

const answerMs = 10_000
const createdCode = 201

interface AdminConfiguration {
  readonly clusters: readonly {
    readonly name: string
    readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string }
  }[]
  readonly users: readonly { readonly user: { readonly token?: string } }[]
}

interface KnownServer {
  readonly name: string
  readonly server: string
  readonly ca: string
  readonly token: string
}

/** How the server is reached, which its last start wrote down. */
function adminConfiguration(dataDir: string): KnownServer {
  const path = join(dataDir, 'admin.conf')
  const text = readOptionalFile(path)
  const { clusters, users } = text === undefined ? { clusters: [], users: [] } : (readYaml(text).value as unknown as AdminConfiguration)
  const [first] = clusters
  if (first === undefined) throw new Error(`${path} does not say where the server is; start one with --data-dir=${dataDir} first`)
  return {
    name: first.name,
    server: first.cluster.server,
    ca: first.cluster['certificate-authority-data'],
    token: users[0]?.user.token ?? '',
  }
}
