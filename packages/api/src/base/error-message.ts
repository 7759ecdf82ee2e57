// The message of a thrown value, which is not always an Error.

export const errorMessage = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))
