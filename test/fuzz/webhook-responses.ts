// A webhook with almost valid admission responses: the server must handle them like hostile requests.

import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { issueCertificate } from '../../packages/server/src/net/tls/issue-certificate.js'
import { type Random, randomFrom } from '../kit/seeded-random.js'
import type { ServerProcess } from '../kit/server-process.js'
import { webhookNamespace } from './fuzz-samples.js'
import { hostileWord, mutateBytes, mutateValue, serializeUnusually, type Value } from './mutate-value.js'

interface WebhookServer {
  close(): void
}

/** Starts the webhook and registers it for writes in the namespace `fuzz-hooked`, which it creates. */
export async function openWebhooks(server: ServerProcess, seed: number): Promise<WebhookServer> {
  const random = randomFrom(seed)
  const times = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 86_400_000 }
  const authority = { ...issueCertificate({ commonName: 'hooks', use: 'authority', ...times }), commonName: 'hooks' }
  const pair = issueCertificate({ commonName: 'hook', hosts: ['127.0.0.1'], use: 'server', ...times }, authority)
  const webhooks = createServer(pair, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { uid } = (JSON.parse(Buffer.concat(chunks).toString()) as { readonly request: { readonly uid: string } }).request
      response.writeHead(random.below(20) === 0 ? 500 : 200, { 'content-type': 'application/json' })
      response.end(responseFor(uid, random))
    })
  })
  await new Promise<void>((resolve) => webhooks.listen(0, '127.0.0.1', resolve))
  const { port } = webhooks.address() as AddressInfo
  const { client } = server
  await client.post('/api/v1/namespaces', { metadata: { name: webhookNamespace, labels: { fuzz: 'hooked' } } })
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
  return { close: () => void webhooks.close() }
}

function responseFor(uid: string, random: Random): string | Buffer {
  const patch = serializeUnusually(
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
  return random.below(6) === 0 ? mutateBytes(Buffer.from(JSON.stringify(changed)), random) : serializeUnusually(changed, random)
}
