// TLS contexts of test clients, cached by CA: creating one costs more than a request.

import { createSecureContext, type SecureContext } from 'node:tls'

const contexts = new Map<string, SecureContext>()

export function secureContextFor(ca: string): { readonly secureContext: SecureContext } {
  const known = contexts.get(ca)
  if (known !== undefined) return { secureContext: known }
  const secureContext = createSecureContext({ ca })
  contexts.set(ca, secureContext)
  return { secureContext }
}
