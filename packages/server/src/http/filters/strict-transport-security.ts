// The filter that adds the Strict-Transport-Security header (HSTS).

import type { Filter } from '../pipeline/filter.js'

export const strictTransport =
  (value: string): Filter =>
  ({ response }) => {
    response.setHeader('Strict-Transport-Security', value)
    return false
  }
