"""A program of an ORM's: a thousand requests by SQLAlchemy, which know nothing of clreduce.

    python3 bench/measuring/requests.py DATABASE ROWS
    build/clreduce-run --report python3 bench/measuring/requests.py DATABASE ROWS

DATABASE is made anew. What is printed is a hash of all that was read, which has to be the same in both, and the seconds of
the requests.
"""

import hashlib
import pathlib
import random
import sys
import time

from sqlalchemy import ForeignKey, String, create_engine, func, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column


class Base(DeclarativeBase):
    """The tables."""


class User(Base):
    """Who does something."""

    __tablename__ = "users"
    id: Mapped[int] = mapped_column(primary_key=True)
    country: Mapped[str] = mapped_column(String(2))


class Event(Base):
    """What somebody does."""

    __tablename__ = "events"
    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    kind: Mapped[str] = mapped_column(String(9))
    amount: Mapped[int]


def insert(session, rng):
    """A new event, and how many there are."""
    session.add(Event(user_id=rng.randrange(1, 501), kind="buy", amount=rng.randrange(1000)))
    session.commit()
    return session.scalar(select(func.max(Event.id)))


def change(session, rng, rows):
    """An event that changes."""
    event = session.get(Event, rng.randrange(1, rows))
    event.amount += 1
    session.commit()
    return event.amount


def request(session, rng, rows):
    """One of the requests, mostly quick ones."""
    kind, user, amount = rng.randrange(12), rng.randrange(1, 501), rng.randrange(1000)
    total = func.sum(Event.amount)
    if kind == 0:
        return insert(session, rng)
    if kind == 1:
        return change(session, rng, rows)
    if kind == 2:
        return session.execute(select(Event.kind, func.count(), total).group_by(Event.kind).order_by(Event.kind)).all()
    if kind == 3:
        return session.scalar(select(func.count()).select_from(Event).where(Event.amount > amount))
    if kind == 4:
        return session.execute(select(Event.user_id, total).group_by(Event.user_id).order_by(total.desc(), Event.user_id).limit(5)).all()
    if kind == 5:
        return session.scalars(select(Event.kind).distinct().order_by(Event.kind)).all()
    if kind == 6:
        return session.scalars(select(User.id).where(User.country == "DE").order_by(User.id).offset(amount // 20).limit(10)).all()
    if kind < 9:
        return [(event.id, event.amount) for event in
                session.scalars(select(Event).where(Event.user_id == user).order_by(Event.id).limit(20))]
    event = session.get(Event, rng.randrange(1, rows))
    return event.id, event.kind, event.amount


def main(path, rows):
    """Fills the tables, and runs the requests."""
    pathlib.Path(path).unlink(missing_ok=True)
    engine, rng, found = create_engine(f"sqlite:///{path}"), random.Random(4), hashlib.sha256()
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        session.execute(User.__table__.insert(), [{"id": i, "country": rng.choice(("DE", "FR", "US"))} for i in range(1, 501)])
        session.execute(Event.__table__.insert(), [
            {"id": i, "user_id": rng.randrange(1, 501), "kind": rng.choice(("view", "click", "buy")), "amount": rng.randrange(1000)}
            for i in range(1, rows + 1)])
        session.commit()
    start = time.perf_counter()
    for _ in range(1000):
        with Session(engine) as session:
            found.update(repr(request(session, rng, rows)).encode())
    print(found.hexdigest()[:16], f"{time.perf_counter() - start:.2f} s")


main(sys.argv[1], int(sys.argv[2]))
