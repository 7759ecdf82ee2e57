// A webhook whose answers to admission reviews are almost right: what the server reads of others is as hostile as what clients send.

import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { issueCertificate } from '../../src/net/issue-certificate.js'
import { type Random, randomFrom } from '../kit/seeded-random.js'
import type { ServerProcess } from '../kit/server-process.js'
import { hookedNamespace } from './fuzz-samples.js'
import { hostileWord, mutateBytes, mutateValue, type Value, writeOddly } from './mutate-value.js'

export interface HookServer {
  close(): void
}

/** Serves the webhook, and has the server ask it about everything in its namespace. */
export async function openHooks(server: ServerProcess, seed: number): Promise<HookServer> {
  const random = randomFrom(seed)
  const times = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 86_400_000 }
  const authority = { ...issueCertificate({ commonName: 'hooks', use: 'authority', ...times }), commonName: 'hooks' }
  const pair = issueCertificate({ commonName: 'hook', hosts: ['127.0.0.1'], use: 'server', ...times }, authority)
  const hooks = createServer(pair, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { uid } = (JSON.parse(Buffer.concat(chunks).toString()) as { readonly request: { readonly uid: string } }).request
      response.writeHead(random.below(20) === 0 ? 500 : 200, { 'content-type': 'application/json' })
      response.end(answer(uid, random))
    })
  })
  await new Promise<void>((resolve) => hooks.listen(0, '127.0.0.1', resolve))
  const { port } = hooks.address() as AddressInfo
  const { client } = server
  await client.post('/api/v1/namespaces', { metadata: { name: hookedNamespace, labels: { fuzz: 'hooked' } } })
  for (const [kind, failurePolicy] of [
    ['mutating', 'Ignore'],
    ['validating', 'Fail'],
  ] as const) {
    const webhook = {
      name: `${kind}.example.com`,
      clientConfig: { url: `https://127.0.0.1:${port}/${kind}`, caBundle: Buffer.from(authority.cert).toString('base64') },
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      failurePolicy,
      timeoutSeconds: 2,
      namespaceSelector: { matchLabels: { fuzz: 'hooked' } },
      rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['configmaps'], scope: '*' }],
    }
    const path = `/apis/admissionregistration.cluster.io/v1/${kind}webhookconfigurations`
    const { status, text } = await client.post(path, { metadata: { name: 'fuzz' }, webhooks: [webhook] })
    if (status !== 201) throw new Error(`${path}: ${status} ${text}`)
  }
  return { close: () => void hooks.close() }
}

function answer(uid: string, random: Random): string | Buffer {
  const patch = writeOddly(
    mutateValue([{ op: 'add', path: `/metadata/annotations/${random.below(3) === 0 ? hostileWord(random) : 'p'}`, value: 'x' }], random),
    random,
  )
  const response: Value = {
    uid,
    allowed: random.below(4) > 0,
    ...(random.below(2) === 0 ? {} : { patchType: 'JSONPatch', patch: Buffer.from(patch).toString('base64') }),
    status: { code: random.pick([403, 422, 200, 0, -1, 700]), message: hostileWord(random), reason: 'Because' },
    warnings: [hostileWord(random), 'a warning'],
    auditAnnotations: { why: hostileWord(random) },
  }
  const review: Value = { apiVersion: 'admission.cluster.io/v1', kind: 'AdmissionReview', response }
  const changed = random.below(2) === 0 ? review : mutateValue(review, random)
  return random.below(6) === 0 ? mutateBytes(Buffer.from(JSON.stringify(changed)), random) : writeOddly(changed, random)
}
