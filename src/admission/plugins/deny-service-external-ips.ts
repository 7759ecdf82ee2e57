// Services take no addresses of elsewhere; those that one has already it may keep or give up.

import { forbidden } from '../../api/api-error.js'
import type { Service } from '../../resources/core/v1.schema.js'
import type { Plugin } from '../admission.js'
import { refusedName } from '../pods.js'

export const denyServiceExternalIPs: Plugin = {
  name: 'DenyServiceExternalIPs',
  collections: ['services'],
  validate: (request) => {
    const { operation, subresource, object, old } = request
    if (subresource !== '' || (operation !== 'CREATE' && operation !== 'UPDATE')) return
    const kept = (old as Service | undefined)?.spec?.externalIPs ?? []
    const wanted = (object as Service | undefined)?.spec?.externalIPs ?? []
    if (wanted.every((address) => kept.includes(address))) return
    throw forbidden(request.resource.subject, refusedName(request), 'Use of external IPs is denied by admission control')
  },
}
