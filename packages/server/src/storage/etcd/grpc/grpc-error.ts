// What a gRPC call ends with when it fails, and what that means for whoever made it.

/** The codes of gRPC that are told apart here. */
export const grpcCodes = {
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  outOfRange: 11,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const

export class GrpcError extends Error {
  override readonly name = 'GrpcError'
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

const passing: readonly number[] = [
  grpcCodes.cancelled,
  grpcCodes.unknown,
  grpcCodes.deadlineExceeded,
  grpcCodes.aborted,
  grpcCodes.internal,
  grpcCodes.unavailable,
  grpcCodes.unauthenticated,
]

/** Whether the same call may succeed a little later, perhaps at another member. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof GrpcError)) return false
  return passing.includes(error.code) || /too many requests|auth store is old/.test(error.message)
}

/** Whether etcd, or whoever speaks for it, does not take so much at once: beyond its limit, and beyond what it reads at all. */
export const isTooLarge = (error: GrpcError): boolean => /too large|larger than max/.test(error.message)

/**
 * Whether another connection, to another member, is more likely to succeed than this one. Not because an answer did not come in time: whether
 * anybody is there at all is watched by the connection itself.
 */
export function wantsAnotherMember(error: unknown): boolean {
  if (!(error instanceof GrpcError) || error.code === grpcCodes.deadlineExceeded) return false
  return isPassing(error) && !error.message.includes('leader changed')
}
