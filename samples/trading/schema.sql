-- The tables of the trading application, with 500 users and 1,000 quotes. Each user begins with 1,000,000 in cash and five holdings.

create table quote (
    symbol text primary key,
    company text not null,
    price numeric(14, 2) not null,
    open numeric(14, 2) not null,
    low numeric(14, 2) not null,
    high numeric(14, 2) not null,
    volume bigint not null
);

create table account (
    name text primary key,
    password text not null,
    full_name text not null,
    address text not null,
    email text not null,
    balance numeric(14, 2) not null,
    logins integer not null default 0,
    last_login timestamptz not null default now()
);

create table holding (
    id bigint generated always as identity primary key,
    account text not null references account,
    symbol text not null references quote,
    quantity integer not null,
    price numeric(14, 2) not null,
    bought timestamptz not null default now()
);

create table trade (
    id bigint generated always as identity primary key,
    account text not null references account,
    kind text not null,
    symbol text not null references quote,
    quantity integer not null,
    price numeric(14, 2) not null,
    done timestamptz not null default now()
);

create index on holding (account);
create index on trade (account, id);

insert into quote
    select 's:' || n, 'Company ' || n || ' Incorporated', price, price, price, price, 0
    from (select n, (10 + n * 7919 % 19000 / 100.0)::numeric(14, 2) as price from generate_series(0, 999) as n) as made;

insert into account (name, password, full_name, address, email, balance)
    select 'uid:' || n, 'xxx', 'User ' || n, n || ' Oak Street', 'uid' || n || '@example.com', 1000000
    from generate_series(0, 499) as n;

insert into holding (account, symbol, quantity, price)
    select 'uid:' || n, symbol, 100, price
    from generate_series(0, 499) as n, generate_series(1, 5) as m, quote
    where symbol = 's:' || (n * 37 + m * 101) % 1000;

analyze;
