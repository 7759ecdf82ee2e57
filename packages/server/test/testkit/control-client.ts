// Client of the control API for tests.

import { ApiClient, type ApiResponse } from '../../../../test/kit/api-client.js'

interface ControlledServer {
  readonly url: string
  readonly caPem: string
  readonly testkit: { readonly token: string } | undefined
}

export const controlClient = ({ url, caPem, testkit }: ControlledServer): ApiClient =>
  new ApiClient({ url, ca: caPem, token: testkit?.token ?? '' })

export const errorOf = ({ status, json }: ApiResponse): readonly [number, unknown] => [status, json['error']]
