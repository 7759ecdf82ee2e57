// Who may approve and who may sign requests for certificates is decided for each signer.

import { forbidden } from '../../api/api-error.js'
import type { ApiObject } from '../../api/object.js'
import { sameValue } from '../../api/validation/same-value.js'
import type { AskAccess } from '../access.js'
import type { AdmissionRequest, Plugin } from '../admission.js'
import { refusedName } from '../pods.js'

interface CertificateRequest extends ApiObject {
  readonly spec?: { readonly signerName?: string }
  readonly status?: { readonly certificate?: string; readonly conditions?: readonly object[] }
}

const isOf = ({ resource, operation, subresource }: AdmissionRequest, wanted: string): boolean =>
  resource.definition.resource === 'certificatesigningrequests' && operation === 'UPDATE' && subresource === wanted

export const certificateApproval = (ask: AskAccess, collection: string): Plugin => ({
  name: 'CertificateApproval',
  collections: [collection],
  validate: (request) => (isOf(request, 'approval') ? checkSigner(ask, request, 'approve') : undefined),
})

export const certificateSigning = (ask: AskAccess, collection: string): Plugin => ({
  name: 'CertificateSigning',
  collections: [collection],
  validate: (request) => {
    if (!isOf(request, 'status')) return undefined
    const [next, old] = [request.object as CertificateRequest | undefined, request.old as CertificateRequest | undefined]
    const isSame = next?.status?.certificate === old?.status?.certificate && sameValue(next?.status?.conditions, old?.status?.conditions)
    return isSame ? undefined : checkSigner(ask, request, 'sign')
  },
})

/** The right is for the signer by name, or for all of its domain. */
async function checkSigner(ask: AskAccess, request: AdmissionRequest, verb: string): Promise<void> {
  const signerName = (request.old as CertificateRequest | undefined)?.spec?.signerName ?? ''
  const { user } = request.call
  const { group } = request.resource.subject
  const [domain = ''] = signerName.split('/')
  for (const name of [signerName, `${domain}/*`]) {
    const { verdict } = await ask(user, { verb, group, version: '*', resource: 'signers', name })
    if (verdict === 'allow') return
  }
  const why = `user not permitted to ${verb} requests with signerName ${JSON.stringify(signerName)}`
  throw forbidden(request.resource.subject, refusedName(request), why)
}
