// Values that are mostly there at once and sometimes have to be waited for: whoever needs no promise makes none.

export type Promised<T> = T | Promise<T>

/** Goes on with a value, at once where it is there. */
export const whenThere = <T, R>(value: Promised<T>, act: (value: T) => Promised<R>): Promised<R> =>
  value instanceof Promise ? value.then(act) : act(value)
