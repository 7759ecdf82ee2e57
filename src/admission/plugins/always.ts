// Plugins for tests of whoever writes admission: one that lets everything pass, and one that lets nothing.

import { forbidden } from '../../api/api-error.js'
import type { AdmissionRequest, Plugin } from '../admission.js'
import { refusedName } from '../pods.js'

export const alwaysAdmit: Plugin = { name: 'AlwaysAdmit' }

const refuse = (request: AdmissionRequest): never => {
  throw forbidden(request.resource.subject, refusedName(request), 'admission control is denying all modifications')
}

export const alwaysDeny: Plugin = { name: 'AlwaysDeny', mutate: refuse, validate: refuse }
