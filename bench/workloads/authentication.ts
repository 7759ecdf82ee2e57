// Authentication by token or client certificate, compared with a static token, with warm caches.

import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { issueCertificate } from '../../packages/server/src/net/tls/issue-certificate.js'
import { forgeToken } from '../../packages/server/test/security/forge-token.js'
import { requestBytes } from '../connection.js'
import { fetchOnce, fill, type Lab, makeNamespace } from '../lab.js'
import type { Served } from '../load.js'
import { compare, type Side } from '../measure.js'
import { configMapText } from '../objects.js'
import { type Line, microseconds } from '../report.js'

const bar = 1.15
const issuer = 'https://accounts.bench'
const hourSeconds = 3600
const dayMs = 86_400_000
const nowSeconds = (): number => Math.floor(Date.now() / 1000)
const validity = () => ({ notBefore: Date.now() - dayMs, notAfter: Date.now() + dayMs })
const pem = (key: KeyObject): string => createPublicKey(key).export({ type: 'spki', format: 'pem' }) as string

export async function measureAuthentication(lab: Lab): Promise<readonly Line[]> {
  const keys = {
    RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
    ES256: generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey,
  }
  const authority = { ...issueCertificate({ commonName: 'bench', use: 'authority', ...validity() }), commonName: 'bench' }
  const write = (name: string, text: string): string => {
    const path = join(lab.folder, name)
    writeFileSync(path, text, { mode: 0o600 })
    return path
  }
  const oidc = await startIssuer(
    lab,
    keys.RS256,
    issueCertificate({ commonName: 'issuer', use: 'server', hosts: ['localhost'], ...validity() }, authority),
  )
  const { served } = await lab.start([
    // Without the cost of authorization, which another workload measures.
    '--authorization-mode=AlwaysAllow',
    `--token-auth-file=${write('static.csv', 'a-static-token-of-a-user,ann,ann-uid,"devs,readers"\n')}`,
    `--client-ca-file=${write('clients.crt', authority.cert)}`,
    `--service-account-issuer=${issuer}`,
    `--service-account-signing-key-file=${write('sa.key', keys.RS256.export({ type: 'pkcs8', format: 'pem' }) as string)}`,
    `--service-account-key-file=${write('sa.pub', `${pem(keys.RS256)}${pem(keys.ES256)}`)}`,
    `--oidc-issuer-url=${oidc}`,
    '--oidc-client-id=bench',
    `--oidc-ca-file=${write('issuer.crt', authority.cert)}`,
    '--oidc-groups-claim=groups',
  ])
  const path = await makeNamespace(served, 'bench-identity')
  await fill(served, { path, count: 1, body: () => configMapText({ name: 'object', bytes: 1024 }) })
  const accountClaims = await createAccount(served)
  const accountToken = (alg: keyof typeof keys): string => forgeToken({ alg, kid: 'any' }, accountClaims, keys[alg])
  const claims = { iss: oidc, aud: 'bench', sub: 'ann', groups: ['devs'], exp: nowSeconds() + hourSeconds }
  const certificate = issueCertificate({ commonName: 'ann', organizations: ['devs'], use: 'client', ...validity() }, authority)
  const staticToken = { ...served, token: 'a-static-token-of-a-user' }
  const methods: { readonly [name: string]: Served } = {
    'service account, ES256': { ...served, token: accountToken('ES256') },
    'service account, RS256': { ...served, token: accountToken('RS256') },
    'OpenID Connect, RS256': { ...served, token: forgeToken({ alg: 'RS256', kid: 'bench' }, claims, keys.RS256) },
    'client certificate': { ...served, token: '', certificate },
  }
  const get = (side: Served) => requestBytes(side, { method: 'GET', path: `${path}/object` })
  const sideOf = async (side: Served): Promise<Side> => {
    const generator = await lab.generator(side, 8)
    const request = get(side)
    return { run: (durationMs) => generator.run({ durationMs, expect: 200, next: () => request }) }
  }
  const lines: Line[] = []
  for (const [name, side] of Object.entries(methods)) {
    const { floor, server, ratio, perSecond } = await compare(await sideOf(staticToken), await sideOf(side), lab.rounds)
    const workload = `get, 1 KB, ${name} / static token`
    lines.push({ workload, floor: microseconds(floor), server: microseconds(server), ratio, bar, note: `${perSecond.toFixed(0)}/s` })
  }
  return lines
}

/** Creates a ServiceAccount and returns the claims of its token. */
async function createAccount(served: Served) {
  const path = '/api/v1/namespaces/bench-identity/serviceaccounts'
  const { body } = await fetchOnce(served, { method: 'POST', path, body: JSON.stringify({ metadata: { name: 'app' } }) })
  const { metadata } = JSON.parse(body.toString()) as { readonly metadata: { readonly uid: string } }
  const now = nowSeconds()
  return {
    iss: issuer,
    aud: [issuer],
    sub: 'system:serviceaccount:bench-identity:app',
    iat: now,
    nbf: now,
    exp: now + hourSeconds,
    'cluster.io': { namespace: 'bench-identity', serviceaccount: { name: 'app', uid: metadata.uid } },
  }
}

/** Starts an OIDC issuer and returns its URL. */
async function startIssuer(lab: Lab, key: KeyObject, pair: { readonly cert: string; readonly key: string }): Promise<string> {
  const jwk = { ...createPublicKey(key).export({ format: 'jwk' }), kid: 'bench', use: 'sig', alg: 'RS256' }
  const server = createServer(pair, ({ url = '' }, response) => {
    const address = `https://localhost:${(server.address() as AddressInfo).port}`
    response.end(JSON.stringify(url.endsWith('/keys') ? { keys: [jwk] } : { issuer: address, jwks_uri: `${address}/keys` }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  lab.closeLater(async () => {
    server.close()
    server.closeAllConnections()
  })
  return `https://localhost:${(server.address() as AddressInfo).port}`
}
