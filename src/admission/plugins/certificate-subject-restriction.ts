// Nobody becomes a master by a certificate that clients of the server get.

import { forbidden } from '../../api/api-error.js'
import type { ApiObject } from '../../api/object.js'
import { mastersGroup } from '../../api/user.js'
import { readCertificateRequest } from '../../resources/certificates/signed-data.js'
import type { Plugin } from '../admission.js'
import { refusedName } from '../pods.js'

interface CertificateRequest extends ApiObject {
  readonly spec?: { readonly signerName?: string; readonly request?: string }
}

export const certificateSubjectRestriction = (collection: string): Plugin => ({
  name: 'CertificateSubjectRestriction',
  collections: [collection],
  validate: (request) => {
    const { operation, subresource, object, identity, resource } = request
    if (operation !== 'CREATE' || subresource !== '') return
    const { spec } = object as CertificateRequest
    const signer = identity.label(identity.prefixed('apiserver-client'))
    if (spec?.signerName !== signer) return
    const refuse = (why: string): Error => forbidden(resource.subject, refusedName(request), why)
    let organizations: readonly string[]
    try {
      organizations = readCertificateRequest(spec.request ?? '').organizations
    } catch (thrown) {
      throw refuse(`unable to parse csr: ${(thrown as Error).message}`)
    }
    if (organizations.includes(mastersGroup)) throw refuse(`use of ${signer} signer with ${mastersGroup} group is not allowed`)
  },
})
