// `cluster-apiserver credentials --user alice --group dev --expires 24h`: a client configuration with a certificate of the server's own authority,
// for whoever has its data folder. No server is asked, and none has to run.

import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { readYaml } from '../codec/yaml/read-yaml.js'
import { issueCertificate } from '../net/issue-certificate.js'
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

Prints a client configuration with a new client certificate, signed by the authority of the data folder. A server believes it unless it was
started with --client-ca-file. Such a certificate cannot be taken back before it expires.

  --user=<name>       as whom the server knows whoever has the certificate
  --group=<name>      a group of that user; repeatable
  --expires=<time>    how long it is valid, such as 90s, 5m or 1h30m
  --cert-dir=<folder> where the server keeps its certificates; in pki of the data folder if left out
  --server=<address>  where the server is reached; as admin.conf of the data folder says if left out
`

/** From an hour ago, for servers whose clock is behind. */
const backdateMs = 3_600_000
const leastMs = 1000
const mostMs = 10 * 365 * 86_400_000

/** Answers the exit code: 0, 1 where it cannot be done, 2 where the command line is wrong. */
export function runCredentialsCommand(args: readonly string[], { print, complain, now }: CredentialsSurroundings): number {
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
    print(configurationFor(wish, now()))
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
        server: { type: 'string' },
      },
    })
    const { user = '', group: groups, expires, 'data-dir': dataDir, 'cert-dir': certDir, server } = values
    if (user === '') return '--user is missing'
    if ([user, ...groups].some((name) => name === '' || /\p{Cc}/u.test(name))) return 'a name is empty or cannot be printed'
    const expiresMs = parseDuration(expires)
    if (expiresMs < leastMs || expiresMs > mostMs) return `--expires: ${JSON.stringify(expires)} is no time between 1s and 10 years`
    return { user, groups, expiresMs, dataDir: resolve(dataDir), folder: resolve(certDir ?? pkiFolder(dataDir)), server }
  } catch (thrown) {
    return (thrown as Error).message
  }
}

function configurationFor({ user, groups, expiresMs, dataDir, folder, server }: Wish, now: number): string {
  const [cert, key] = [readOptionalFile(caFile(folder)), readOptionalFile(join(folder, 'ca.key'))]
  if (cert === undefined || key === undefined)
    throw new Error(`there is no authority in ${folder}; start a server with --data-dir=${dataDir} first`)
  const known = adminConfiguration(dataDir)
  const request = {
    commonName: user,
    organizations: groups,
    use: 'client',
    notBefore: now - backdateMs,
    notAfter: now + expiresMs,
  } as const
  const pair = issueCertificate(request, signerOf({ cert, key }))
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
    client-certificate-data: ${Buffer.from(pair.cert).toString('base64')}
    client-key-data: ${Buffer.from(pair.key).toString('base64')}
contexts:
- name: ${text(context)}
  context:
    cluster: ${text(known.name)}
    user: ${text(user)}
current-context: ${text(context)}
preferences: {}
`
}

interface AdminConfiguration {
  readonly clusters: readonly {
    readonly name: string
    readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string }
  }[]
}

/** How the server is reached, which its last start wrote down. */
function adminConfiguration(dataDir: string): { readonly name: string; readonly server: string; readonly ca: string } {
  const path = join(dataDir, 'admin.conf')
  const text = readOptionalFile(path)
  const [first] = text === undefined ? [] : (readYaml(text).value as unknown as AdminConfiguration).clusters
  if (first === undefined) throw new Error(`${path} does not say where the server is; start one with --data-dir=${dataDir} first`)
  return { name: first.name, server: first.cluster.server, ca: first.cluster['certificate-authority-data'] }
}
