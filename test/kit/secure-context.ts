// What a client of tests trusts, made once for each authority and not for each connection, which costs more than the rest of a request.

import { createSecureContext, type SecureContext } from 'node:tls'

const contexts = new Map<string, SecureContext>()

export function trusting(ca: string): { readonly secureContext: SecureContext } {
  const known = contexts.get(ca)
  if (known !== undefined) return { secureContext: known }
  const secureContext = createSecureContext({ ca })
  contexts.set(ca, secureContext)
  return { secureContext }
}
